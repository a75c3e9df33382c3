// What a document of an applet has, for tests that run in one.
import type { AppletApi } from '../src/applets/runtime/api';

declare global {
  interface Window {
    appletAPI: AppletApi;
    setAppletState: AppletApi['setAppletState'];
    expose: AppletApi['expose'];
    sum(a: number, b: number): number;
  }
  const appletContainer: HTMLElement;
  function setAppletState(state: Record<string, unknown>): void;
  const expose: AppletApi['expose'];
}
