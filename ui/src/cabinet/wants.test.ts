import { expect, test } from 'vitest';
import { wants } from './wants';
import type { ListedApp } from './wire';

const plain: ListedApp = {
  id: 'a',
  name: 'A',
  hidden: false,
  bundled: false,
  permissions: [],
  domains: { connect: [], load: [] },
  fileAssociations: [],
  problems: [],
};

test('an app that asks for nothing says nothing', () => {
  expect(wants(plain)).toEqual([]);
});

test('everything that an app asks for is said in a sentence', () => {
  const app: ListedApp = {
    ...plain,
    permissions: ['downloads', 'storage:shared/', 'storage-read:notes/', 'toString', 'new'],
    domains: { connect: ['https://api.example.com', 'wss://live.example.com'], load: ['https://cdn.example.com'] },
    storage: 1.5 * 2 ** 20,
    fileAssociations: [{ extensions: ['.csv', '.tsv'] }, { extensions: ['.csv'] }],
  };
  expect(wants(app)).toEqual([
    'Offer files for download',
    'Read and change what apps keep in shared/, after asking you',
    'Read what apps keep in notes/, after asking you',
    'toString',
    'new',
    'Speak to api.example.com, wss://live.example.com',
    'Load content from cdn.example.com',
    'Keep up to 1.5 MB',
    'Open .csv, .tsv files',
  ]);
});
