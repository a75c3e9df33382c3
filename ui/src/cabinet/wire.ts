// Apps as the server tells of them.
export interface ListedApp {
  id: string;
  name: string;
  icon?: string;
  iconType?: 'emoji' | 'image';
  description?: string;
  version?: string;
  author?: string;
  hidden: boolean;
  bundled: boolean;
  permissions: string[];
  domains: { connect: string[]; load: string[] };
  /** In bytes. */
  storage?: number;
  fileAssociations: { extensions: string[] }[];
  problems: { path: string; message: string }[];
}

export interface Looked {
  app: ListedApp;
  replaces: boolean;
}
