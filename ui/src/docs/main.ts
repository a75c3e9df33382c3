// Starts the API reader.
import '../styles/base.css';
import '../styles/prose.css';
import { mount } from 'svelte';
import Docs from './Docs.svelte';

mount(Docs, { target: document.getElementById('page')! });
