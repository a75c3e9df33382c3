// The official libraries, which the tests install elsewhere; of their types nothing is used.
declare module 'ext-apps' {
  export const App: any;
  export const PostMessageTransport: any;
}
declare module 'ext-apps/bridge' {
  export const AppBridge: any;
  export const PostMessageTransport: any;
}
declare module '@modelcontextprotocol/client' {
  export const Client: any;
  export const StreamableHTTPClientTransport: any;
}
