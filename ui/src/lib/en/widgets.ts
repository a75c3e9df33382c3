// Widgets of servers, in the conversation.
export const widgets = {
  of: (tool: string) => `Widget of ${tool}`,
};
