// Frames with content of another origin, and widgets in them, as the server speaks of them.

/** What concerns one frame, which is a window whose content lives on another origin. */
export type FrameWord =
  | { type: 'frameMessage'; frameId: string; message: unknown }
  | { type: 'frameError'; frameId: string; error: string }
  | { type: 'frameWish'; frameId: string; wish: FrameWish }
  | { type: 'frameHeld' | 'frameGone' | 'frameLost'; frameId: string };

export type DisplayMode = 'inline' | 'fullscreen' | 'pip';

/** What a widget wants of the page; consent has been asked for already. */
export type FrameWish =
  | { id: number; kind: 'open-link'; url: string }
  | { id: number; kind: 'download'; files: { name: string; mimeType: string; base64: string }[] }
  | { id: number; kind: 'display-mode'; mode: DisplayMode }
  | { kind: 'close'; reason?: string }
  | { kind: 'size'; width?: number; height?: number; aspectRatio?: number };

/** What a widget is told through the server: how a wish went, what is different around it, why it does not work. */
export type FrameNote =
  | { done: number; ok: boolean; mode?: DisplayMode }
  | { context: Record<string, unknown> }
  | { verdict: string; detail: string }
  | { gesture: true };

/** What became of the widget of a call. */
export interface WidgetView {
  /** Word for word what the model is told of it. */
  context?: { version: number; text: string; pictures?: { mimeType: string; url: string }[] };
  /** How it went; what is said beside `ok` is what was not heeded. */
  verdict?: { verdict: string; detail: string };
  /** What it lends to agents while it is shown; without `offered` it cannot be called. */
  tools: { name: string; description: string; offered: string | null }[];
  /** What it wants to use of the browser. */
  features: { feature: string; granted: boolean }[];
  /** What it asked for. */
  calls: { seq: number; method: string; outcome: string }[];
}

/** What can be opened in a frame. */
export interface FrameOffer {
  kind: 'app' | 'applet';
  id: string;
  title: string;
  description: string;
  /** It belongs in a window of a session. */
  window?: boolean;
}

/** A frame that was opened. */
export interface FrameTicket {
  frameId: string;
  url: string;
  sandbox: string;
  allow: string;
  title: string;
  nonce: string;
}
