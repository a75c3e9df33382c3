// The official clients of both eras, each over HTTP and over a pipe, as one kind of visitor.
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldPipe } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { Client as NewClient, StreamableHTTPClientTransport as NewHttp } from '@modelcontextprotocol/client';
import { StdioClientTransport as NewPipe } from '@modelcontextprotocol/client/stdio';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { binary } from '../server.mjs';

const info = { name: 'visitor', version: '1' };

/**
 * @typedef {{ signal?: AbortSignal, onprogress?: (progress: { progress: number, message?: string }) => void }} Options
 * @typedef {{ content: { type: string, text?: string }[], structuredContent?: any, isError?: boolean }} Result
 * @typedef {object} Visitor
 * @property {(name: string, args?: Record<string, unknown>, options?: Options) => Promise<Result>} call
 * @property {(uri: string, heard: () => void) => Promise<unknown>} watch
 * @property {(heard: (list: 'tools' | 'resources') => void) => Promise<unknown>} listen Hears when a list is another.
 * @property {OldClient | NewClient} client What both eras have in common.
 * @property {() => Promise<void>} leave
 */

/**
 * @param {import('../server.mjs').Server} server
 * @param {'http' | 'pipe'} way
 * @returns {Promise<Visitor>}
 */
export async function initializing(server, way) {
  const client = new OldClient(info);
  const transport = way === 'http' ? new OldHttp(...(await address(server))) : new OldPipe(command(server.home));
  await client.connect(/** @type {any} */ (transport));
  return {
    client,
    call: async (name, args = {}, options) =>
      /** @type {Result} */ (await client.callTool({ name, arguments: args }, undefined, options)),
    watch: async (uri, heard) => {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
        if (params.uri === uri) heard();
      });
      await client.subscribeResource({ uri });
    },
    listen: async (heard) => {
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => heard('tools'));
      client.setNotificationHandler(ResourceListChangedNotificationSchema, () => heard('resources'));
    },
    leave: () => client.close(),
  };
}

/**
 * @param {import('../server.mjs').Server} server
 * @param {'http' | 'pipe'} way
 * @returns {Promise<Visitor>}
 */
export async function discovering(server, way) {
  const client = new NewClient(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  const transport = way === 'http' ? new NewHttp(...(await address(server))) : new NewPipe(command(server.home));
  await client.connect(transport);
  return {
    client,
    call: async (name, args = {}, options) =>
      /** @type {Result} */ (await client.callTool({ name, arguments: args }, options)),
    watch: (uri, heard) => {
      client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
        if (params.uri === uri) heard();
      });
      return client.listen({ resourceSubscriptions: [uri] });
    },
    listen: (heard) => {
      client.setNotificationHandler('notifications/tools/list_changed', () => heard('tools'));
      client.setNotificationHandler('notifications/resources/list_changed', () => heard('resources'));
      return client.listen({ toolsListChanged: true, resourcesListChanged: true });
    },
    leave: () => client.close(),
  };
}

/** @param {string} home */
export function command(home) {
  const args = ['mcp', '--data-dir', join(home, 'data'), '--workspace', join(home, 'workspace')];
  return { command: binary, args, stderr: /** @type {const} */ ('inherit') };
}

/**
 * @param {import('../server.mjs').Server} server
 * @returns {Promise<[URL, { requestInit: RequestInit }]>}
 */
async function address(server) {
  const key = (await readFile(join(server.home, 'data', 'key'), 'utf8')).trim();
  return [new URL(`${server.url}/mcp`), { requestInit: { headers: { authorization: `Bearer ${key}` } } }];
}
