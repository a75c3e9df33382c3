// Starts the page people talk to.
import './styles/base.css';
import './styles/forms.css';
import './styles/prose.css';
import { mount } from 'svelte';
import App from './chat/App.svelte';
import { Hall } from './lib/hall.svelte';

const hall = new Hall();
hall.start();
mount(App, { target: document.getElementById('page')!, props: { hall } });
