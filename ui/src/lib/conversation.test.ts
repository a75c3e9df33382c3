// What must hold of the fold: a transcript in, a conversation out.
import { describe, expect, test } from 'vitest';
import {
  empty,
  fold,
  lastSaid,
  marked,
  planOf,
  posted,
  resumed,
  settled,
  TAIL,
  tied,
  withdrawn,
  type Conversation,
} from './conversation';
import { Place } from './place';
import { answer, delta, facts, idle, message, said, toolDone, toolStart } from './transcript';
import type { EventFrame, SessionEvent } from './wire';

/** Each item in a few words, which reads better in a test than the whole value. */
function told(conversation: Conversation): string[] {
  const lines = conversation.items.map((it) => {
    if (it.kind === 'said') return `you: ${it.text}`;
    if (it.kind === 'answer') return `${it.open ? 'writing' : 'answer'}: ${it.text}`;
    if (it.kind === 'thought') return `thought: ${it.text}`;
    if (it.kind === 'tool') return `${it.name} ${it.state}: ${it.output}`;
    if (it.kind === 'compaction') return `summing up ${it.state}: ${it.summary || it.reason}`;
    if (it.kind === 'asked') return `asked ${it.approval.title}: ${it.outcome?.verdict ?? 'waiting'}`;
    if (it.kind === 'plan') return `plan ${it.title} ${it.state}: ${it.steps.map((step) => step.status).join(', ')}`;
    if (it.kind === 'embed') return `${it.provider}: ${it.title}`;
    return `${it.tone}: ${it.text}`;
  });
  return [...lines, ...conversation.waiting.map((it) => `${it.state}: ${it.text}`)];
}

const happened = (type: string, data: object): SessionEvent => ({ type, data, id: `${type}-1` });

describe('saying something else instead', () => {
  const numbered = (event: SessionEvent, seq: number) => ({ ...event, seq });
  const past = [
    numbered(said('one'), 2),
    numbered(answer('m1', 'first'), 4),
    numbered(idle(), 5),
    numbered(said('two'), 6),
    delta('m2', 'sec'),
    numbered(answer('m2', 'second'), 8),
  ];

  test('drops the message and all that followed', () => {
    const before = fold(empty, past);
    const rewound = numbered(happened('session.rewound', { before: 6 }), 10);
    expect(told(fold(before, [rewound, numbered(said('three'), 11)]))).toEqual([
      'you: one',
      'answer: first',
      'you: three',
    ]);
  });

  test('is offered for the last message of the person, while nothing waits', () => {
    const before = fold(empty, past);
    expect(lastSaid(before)).toMatchObject({ text: 'two', at: 6 });
    expect(lastSaid(posted(before, 'k', 'next'))).toBeUndefined();
    expect(lastSaid(fold(before, [numbered(said('tick', { scheduleSlug: 'daily' }), 12)]))).toBeUndefined();
  });
});

describe('a turn', () => {
  test('deltas grow into the answer, and the stored answer takes their place', () => {
    const growing = fold(empty, [said('hi'), delta('m1', 'Hel'), delta('m1', 'lo')]);
    expect(told(growing)).toEqual(['you: hi', 'writing: Hello']);
    expect(told(fold(growing, [answer('m1', 'Hello.'), idle()]))).toEqual(['you: hi', 'answer: Hello.']);
  });

  test('a delta that replaces is the whole text so far', () => {
    const joined = fold(empty, [said('hi'), delta('m1', 'Hello wor', true), delta('m1', 'ld')]);
    expect(told(joined)).toEqual(['you: hi', 'writing: Hello world']);
  });

  test('an answer without text shows nothing', () => {
    expect(told(fold(empty, [said('hi'), answer('m1', '')]))).toEqual(['you: hi']);
  });

  test('an item that no event touches keeps its identity', () => {
    const before = fold(empty, [said('hi'), delta('m1', 'a')]);
    expect(fold(before, [delta('m1', 'b')]).items[0]).toBe(before.items[0]);
  });

  test('the intent is shown until the turn ends', () => {
    const during = fold(empty, [said('hi'), happened('assistant.intent', { intent: 'Reading files' })]);
    expect(during.intent).toBe('Reading files');
    expect(fold(during, [idle()]).intent).toBe('');
  });

  test('what is embedded is shown once, where it was put', () => {
    const song = happened('caco.embed', { outputId: 'out_1_a', provider: 'YouTube', title: 'A song' });
    expect(told(fold(empty, [song, answer('m', 'Here it is.'), song]))).toEqual([
      'YouTube: A song',
      'answer: Here it is.',
    ]);
  });

  test('events of an unknown type are passed over', () => {
    expect(fold(empty, [happened('caco.context', {}), happened('future.event', { a: 1 })])).toEqual(empty);
  });

  test('whoever spoke in place of the person is named', () => {
    const spoken = (more: object) => {
      const [item] = fold(empty, [said('x', more)]).items;
      return item?.kind === 'said' ? [item.speaker, item.origin] : [];
    };
    expect(spoken({})).toEqual(['user', '']);
    expect(spoken({ source: 'scheduler', scheduleSlug: 'daily' })).toEqual(['schedule', 'daily']);
    expect(spoken({ source: 'applet', appletSlug: 'map' })).toEqual(['applet', 'map']);
    expect(spoken({ source: 'agent', fromSession: 'S2' })).toEqual(['agent', '']);
    expect(spoken({ source: 'app', appId: 'board' })).toEqual(['app', 'board']);
    expect(spoken({ source: 'widget', server: 'maps', tool: 'show' })).toEqual(['widget', 'maps']);
    expect(spoken({ source: 'something new' })).toEqual(['user', '']);
  });

  test('pictures of messages and of tools are kept, and how long the tool took', () => {
    const start = { ...toolStart('c1', 'look'), timestamp: '2026-05-05T10:00:00.000Z' };
    const result = { content: 'seen', images: [{ url: '/p/1', mimeType: 'image/png', name: 'shot.png' }] };
    const done = {
      ...happened('tool.execution_complete', { toolCallId: 'c1', success: true, result }),
      timestamp: '2026-05-05T10:00:02.500Z',
    };
    const attachments = [{ url: '/p/0', displayName: 'image.png' }, { displayName: 'gone.png' }];
    const { items } = fold(empty, [said('look', { attachments }), start, done]);
    expect(items[0]).toMatchObject({ pictures: [{ url: '/p/0', name: 'image.png' }] });
    expect(items[1]).toMatchObject({ pictures: [{ url: '/p/1', name: 'shot.png' }] });
    const [, tool] = items;
    expect(tool?.kind === 'tool' && tool.until! - tool.since!).toBe(2500);
  });
});

describe('a wait before another try', () => {
  const retry = (message: string) => happened('session.info', { infoType: 'retry', message });

  test('only the latest is shown', () => {
    const waits = fold(empty, [said('hi'), retry('1 of 5'), retry('2 of 5')]);
    expect(told(waits)).toEqual(['you: hi', 'retry: 2 of 5']);
  });

  test('it goes when anything else happens, or nothing runs any more', () => {
    const waits = fold(empty, [said('hi'), retry('1 of 5')]);
    expect(told(fold(waits, [delta('m1', 'Hel')]))).toEqual(['you: hi', 'writing: Hel']);
    const failed = fold(waits, [happened('session.error', { message: 'overloaded' })]);
    expect(told(failed)).toEqual(['you: hi', 'error: overloaded']);
    expect(told(settled(waits))).toEqual(['you: hi']);
  });

  test('other news stays', () => {
    const news = fold(empty, [said('hi'), happened('session.info', { infoType: 'cancellation', message: 'stopped' })]);
    expect(told(fold(news, [idle()]))).toEqual(['you: hi', 'info: stopped']);
  });
});

describe('summing up', () => {
  const begun = fold(empty, [said('hi'), answer('m1', 'Hello'), idle(), happened('session.compaction_start', {})]);
  const end = (data: object) => fold(begun, [happened('session.compaction_complete', data)]);

  test('it begins, and ends in the same place', () => {
    expect(told(begun)).toEqual(['you: hi', 'answer: Hello', 'summing up running: ']);
    const data = { success: true, summaryContent: 'A greeting.', preCompactionTokens: 900, postCompactionTokens: 20 };
    const done = end(data);
    expect(told(done)).toEqual(['you: hi', 'answer: Hello', 'summing up done: A greeting.']);
    expect(done.items[2]).toMatchObject({ id: begun.items[2]!.id, before: 900, after: 20 });
    expect(told(fold(done, [said('more')])).at(-1)).toBe('you: more');
  });

  test('a failure says why', () => {
    expect(told(end({ success: false, error: 'overloaded' })).at(-1)).toBe('summing up failed: overloaded');
  });

  test('it does not run on when nothing runs any more', () => {
    expect(told(settled(begun)).at(-1)).toBe('summing up failed: it was stopped');
  });

  test('the end alone is enough', () => {
    const data = { success: true, summaryContent: 'All of it.' };
    expect(told(fold(empty, [happened('session.compaction_complete', data)]))).toEqual(['summing up done: All of it.']);
  });
});

describe('reasoning', () => {
  const start = happened('assistant.turn_start', { turnId: '0' });
  const stored = happened('assistant.reasoning', { reasoningId: 'r1', content: 'Let me think.' });

  test('live and from the log it stands before the answer it led to', () => {
    const live = fold(empty, [
      said('hi'),
      start,
      happened('assistant.reasoning_delta', { reasoningId: 'r1', deltaContent: 'Let' }),
      answer('m1', 'Yes'),
      stored,
    ]);
    const replayed = fold(empty, [said('hi'), start, answer('m1', 'Yes'), stored]);
    expect(told(live)).toEqual(['you: hi', 'thought: Let me think.', 'answer: Yes']);
    expect(told(replayed)).toEqual(told(live));
  });

  test('it stays with its own call of the model', () => {
    const again = happened('assistant.turn_start', { turnId: '1' });
    const events = [said('hi'), start, answer('m1', 'First'), again, answer('m2', 'Second'), stored];
    expect(told(fold(empty, events))).toEqual(['you: hi', 'answer: First', 'thought: Let me think.', 'answer: Second']);
  });
});

describe('tools', () => {
  test('a call becomes one card that ends with its result', () => {
    const running = fold(empty, [said('ls'), toolStart('c1', 'list_directory', { path: '.' })]);
    expect(running.items[1]).toMatchObject({ name: 'list_directory', arguments: { path: '.' }, state: 'running' });
    expect(told(fold(running, [toolDone('c1', 'a.txt')]))).toEqual(['you: ls', 'list_directory succeeded: a.txt']);
  });

  test('parallel calls are matched by their id, not by their order', () => {
    const events = [
      said('x'),
      toolStart('c1', 'one'),
      toolStart('c2', 'two'),
      toolDone('c2', 'second'),
      toolDone('c1', 'first'),
    ];
    expect(told(fold(empty, events))).toEqual(['you: x', 'one succeeded: first', 'two succeeded: second']);
  });

  test('a failure shows its message', () => {
    const failed = happened('tool.execution_complete', {
      toolCallId: 'c1',
      success: false,
      error: { message: "Tool 'x' does not exist." },
    });
    expect(told(fold(empty, [toolStart('c1', 'x'), failed]))).toEqual(["x failed: Tool 'x' does not exist."]);
  });

  test('partial output and progress show while it runs, and the result replaces them', () => {
    const partial = happened('tool.execution_partial_result', { toolCallId: 'c1', partialOutput: 'half' });
    const progress = happened('tool.execution_progress', { toolCallId: 'c1', progressMessage: '1 of 2' });
    const running = fold(empty, [toolStart('c1', 'x'), partial, progress]);
    expect(running.items[0]).toMatchObject({ output: 'half', progress: '1 of 2', state: 'running' });
    expect(fold(running, [toolDone('c1', 'whole')]).items[0]).toMatchObject({
      output: 'whole',
      progress: '',
      state: 'succeeded',
    });
  });

  test('a call that a stopped turn left behind is not shown as running', () => {
    expect(told(fold(empty, [toolStart('c1', 'x'), idle()]))).toEqual(['x stopped: ']);
  });
});

describe('errors and news', () => {
  test('a failed turn keeps what was written and says why it ended', () => {
    const events = [said('hi'), delta('m1', 'Hel'), happened('session.error', { message: 'invalid key' })];
    expect(told(fold(empty, events))).toEqual(['you: hi', 'answer: Hel', 'error: invalid key']);
  });

  test('a cancelled turn says so', () => {
    const cancelled = happened('session.info', { infoType: 'cancellation', message: 'Operation cancelled by user' });
    expect(told(fold(empty, [said('hi'), delta('m1', 'Hel'), cancelled, idle()]))).toEqual([
      'you: hi',
      'answer: Hel',
      'info: Operation cancelled by user',
    ]);
  });

  test('when the server says that nothing runs, nothing is shown as running', () => {
    expect(told(settled(fold(empty, [said('hi'), delta('m1', 'Hel')])))).toEqual(['you: hi', 'answer: Hel']);
  });
});

describe('messages of ours', () => {
  test('one shows at once and gives way to the event that it became', () => {
    const sent = posted(empty, 'k1', 'hi');
    expect(told(sent)).toEqual(['sending: hi']);
    expect(told(fold(sent, [said('hi')]))).toEqual(['you: hi']);
  });

  test('one sent while busy waits below the running answer', () => {
    const busy = fold(empty, [said('first'), delta('m1', 'Wor')]);
    const queued = marked(posted(busy, 'k2', 'second'), 'k2', 'waiting');
    expect(told(fold(queued, [delta('m1', 'king')]))).toEqual(['you: first', 'writing: Working', 'waiting: second']);
    expect(told(fold(queued, [answer('m1', 'Working'), idle(), said('second')]))).toEqual([
      'you: first',
      'answer: Working',
      'you: second',
    ]);
  });

  test('of two equal ones each event takes one', () => {
    const sent = posted(posted(empty, 'k1', 'again'), 'k2', 'again');
    expect(told(fold(sent, [said('again')]))).toEqual(['you: again', 'sending: again']);
  });

  test('a refused one says why and can be withdrawn', () => {
    const refused = marked(posted(empty, 'k1', 'hi'), 'k1', 'failed', 'Session not found: S');
    expect(refused.waiting[0]).toMatchObject({ state: 'failed', reason: 'Session not found: S' });
    expect(withdrawn(refused, 'k1').waiting).toEqual([]);
  });
});

describe('a lost connection', () => {
  /** Reads frames as the page does: what is no repeat is folded. */
  function read(conversation: Conversation, place: Place, frames: EventFrame[]): Conversation {
    return fold(
      conversation,
      frames.filter((frame) => place.reach(frame)).map((frame) => frame.event),
    );
  }

  const whole = facts([
    [message(said('hi', {}, 'u1'))],
    [message(toolStart('c1', 'look', {}, 't1'))],
    [message(toolDone('c1', 'seen', 't2'))],
    [
      message(answer('m1', 'Hello', 'a1')),
      message(happened('assistant.reasoning', { reasoningId: 'r1', content: 'hm' })),
    ],
    [message(idle('i1'))],
  ]);
  const expected = told(read(empty, new Place(), whole));

  test('cut at any frame, resuming neither doubles nor loses', () => {
    for (let cut = 0; cut <= whole.length; cut += 1) {
      const place = new Place();
      const before = read(empty, place, whole.slice(0, cut));
      const firstMissing = whole.findLastIndex((frame) => frame.seq !== undefined && frame.seq <= place.seq) + 1;
      expect(told(read(resumed(before), place, whole.slice(firstMissing)))).toEqual(expected);
    }
  });

  test('a server that repeats more than was asked for changes nothing', () => {
    const place = new Place();
    const once = read(empty, place, whole);
    expect(told(read(resumed(once), place, whole))).toEqual(expected);
  });

  test('half-written text is told again whole, once', () => {
    const cut = resumed(fold(empty, [said('hi'), delta('m1', 'Hel')]));
    expect(told(cut)).toEqual(['you: hi', 'writing: Hel']);
    expect(told(fold(cut, [delta('m1', 'Hello w', true), delta('m1', 'orld')]))).toEqual([
      'you: hi',
      'writing: Hello world',
    ]);
    expect(told(fold(cut, [answer('m1', 'Hello world')]))).toEqual(['you: hi', 'answer: Hello world']);
  });

  test('half-written text that died with the server goes when nothing runs any more', () => {
    const cut = resumed(fold(empty, [said('hi'), delta('m1', 'Hel')]));
    expect(told(settled(cut))).toEqual(['you: hi']);
  });

  test('half-written text that died with the server gives way to the answer that came instead', () => {
    const cut = resumed(fold(empty, [said('hi'), delta('m1', 'Hel')]));
    expect(told(fold(cut, [delta('m2', 'Hello', true)]))).toEqual(['you: hi', 'writing: Hello']);
  });
});

describe('a tool at work', () => {
  const printed = (partialOutput: string) =>
    happened('tool.execution_partial_result', { toolCallId: 'c1', partialOutput });
  const tool = (conversation: Conversation) => conversation.items.find((it) => it.kind === 'tool')!;

  test('keeps only the end of what it prints', () => {
    const running = fold(empty, [said('go'), toolStart('c1', 'run'), printed('a'.repeat(TAIL)), printed('end')]);
    expect(tool(running)).toMatchObject({ output: `${'a'.repeat(TAIL - 3)}end`, state: 'running' });
  });

  test('tells how far it has come where it knows how far there is to go', () => {
    const progress = (data: object) => happened('tool.execution_progress', { toolCallId: 'c1', ...data });
    const begun = fold(empty, [said('go'), toolStart('c1', 'run')]);
    const half = fold(begun, [progress({ progressMessage: 'half', progress: 2, total: 4 })]);
    expect(tool(half)).toMatchObject({ progress: 'half', share: 0.5 });
    expect(tool(fold(half, [progress({ progressMessage: 'on', progress: 3 })]))).toMatchObject({ share: null });
    expect(tool(fold(half, [toolDone('c1', 'ok')]))).toMatchObject({ progress: '', share: null, output: 'ok' });
  });

  test('shows a change as one, whether it is told apart or is the text itself', () => {
    const diff = '--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n';
    const done = (result: object) => happened('tool.execution_complete', { toolCallId: 'c1', success: true, result });
    const begun = fold(empty, [said('go'), toolStart('c1', 'edit')]);
    expect(tool(fold(begun, [done({ content: 'edited a', data: { diff } })]))).toMatchObject({
      output: 'edited a',
      diff,
    });
    expect(tool(fold(begun, [done({ content: diff })]))).toMatchObject({ diff });
    expect(tool(fold(begun, [done({ content: 'x', data: { diff: 7 } })]))).toMatchObject({ diff: '' });
  });
});

describe('a question', () => {
  const requested = (id: string, toolCallId?: string) =>
    happened('permission.requested', { approval: { id, title: `Doing ${id}`, ...(toolCallId ? { toolCallId } : {}) } });
  const completed = (approvalId: string, verdict: string) =>
    happened('permission.completed', { approvalId, verdict, by: 'the page' });

  test('stands after the call that waits for it, and learns what came of it', () => {
    const calls = [said('go'), toolStart('c1', 'one'), toolStart('c2', 'two')];
    const asked = fold(empty, [...calls, requested('q1', 'c1'), requested('q2')]);
    expect(told(asked)).toEqual([
      'you: go',
      'one running: ',
      'asked Doing q1: waiting',
      'two running: ',
      'asked Doing q2: waiting',
    ]);
    const answered = fold(asked, [completed('q1', 'allowed'), completed('unknown', 'denied')]);
    expect(told(answered)).toContain('asked Doing q1: allowed');
    expect(told(answered)).toContain('asked Doing q2: waiting');
  });
});

describe('a plan', () => {
  const plan = (type: string, ...statuses: string[]) =>
    happened(type, { task: { id: 't1', title: 'Feast', steps: statuses.map((status) => ({ text: status, status })) } });

  test('is one item that changes in its place until it is over', () => {
    const begun = fold(empty, [said('go'), plan('task.created', 'active', 'pending'), delta('m1', 'on it')]);
    expect(planOf(begun)?.steps).toHaveLength(2);
    const moved = fold(begun, [plan('task.updated', 'done', 'active')]);
    expect(told(moved)).toEqual(['you: go', 'plan Feast open: done, active', 'writing: on it']);
    const over = fold(moved, [happened('task.completed', { taskId: 't1', status: 'done' })]);
    expect(told(over)[1]).toBe('plan Feast done: done, active');
    expect(planOf(over)).toBeUndefined();
  });
});

describe('taking back', () => {
  const at = (event: SessionEvent, seq: number) => ({ ...event, seq });
  const talk = fold(empty, [
    at(said('one'), 2),
    at(answer('m1', 'First'), 4),
    at(idle(), 5),
    at(said('two'), 6),
    delta('m2', 'Sec'),
    at(answer('m2', 'Second'), 8),
    at(idle(), 9),
  ]);

  test('everything from a number on goes, and the conversation continues', () => {
    const back = fold(talk, [at(happened('session.rewound', { before: 6 }), 10)]);
    expect(told(back)).toEqual(['you: one', 'answer: First']);
    expect(told(fold(back, [at(said('other'), 11)]))).toEqual(['you: one', 'answer: First', 'you: other']);
  });

  test('all of it can go', () => {
    expect(told(fold(talk, [at(happened('session.rewound', { before: 1 }), 10)]))).toEqual([]);
  });

  test('a number that nothing has reached takes nothing', () => {
    expect(told(fold(talk, [at(happened('session.rewound', { before: 10 }), 10)]))).toEqual(told(talk));
  });
});

describe('what happens to things that are not at hand', () => {
  test('it is kept for the part they are in, and told there', () => {
    const earlier = fold(empty, [said('read'), toolStart('c1', 'read')]);
    const later = fold(empty, [toolDone('c1', 'text'), answer('m1', 'Done.'), idle()]);
    expect(told(later)).toEqual(['answer: Done.']);
    expect(told(tied(earlier, later.loose))).toEqual(['you: read', 'read succeeded: text']);
  });

  test('a plan is shown where it was made, and ends there too', () => {
    const task = { id: 'p', title: 'Plan', steps: [] };
    const earlier = fold(empty, [happened('task.created', { task })]);
    const later = fold(empty, [
      happened('task.updated', { task }),
      happened('task.completed', { taskId: 'p', status: 'done' }),
    ]);
    expect(later.items).toMatchObject([{ kind: 'plan', begun: false, state: 'done' }]);
    expect(tied(earlier, later.loose).items).toMatchObject([{ kind: 'plan', begun: true, state: 'done' }]);
  });

  test('what is not known there either is handed on', () => {
    const middle = tied(fold(empty, [answer('m1', 'Hm.')]), [toolDone('c1', 'text')]);
    expect(middle.loose).toHaveLength(1);
  });
});

test('a message that the server took is gone when nothing runs any more, whether or not it was told', () => {
  const posting = marked(posted(empty, 'k1', 'hi'), 'k1', 'taken');
  expect(told(posting)).toEqual(['taken: hi']);
  expect(told(settled(posting))).toEqual([]);
});

test('what becomes of the widget of a call is told of the call, also where that is in an earlier part', () => {
  const begun = fold(empty, [said('go'), toolStart('c', 'show')]);
  const events = [
    happened('widget.shown', { toolCallId: 'c', server: 'clock', changed: true }),
    happened('widget.verdict', { toolCallId: 'c', verdict: 'csp-blocked', detail: 'connect-src https://x.example' }),
    happened('widget.tools', { toolCallId: 'c' }),
  ];
  const widget = ({ items }: Conversation) => items.flatMap((it) => (it.kind === 'tool' ? [it.widget] : []));
  const blocked = { verdict: 'csp-blocked', detail: 'connect-src https://x.example' };
  const expected = [{ server: 'clock', changed: true, ...blocked, judged: 2, news: 3 }];
  expect(widget(fold(begun, events))).toEqual(expected);
  const later = fold(empty, events);
  expect(widget(tied(begun, later.loose))).toEqual(expected);
  const well = fold(begun, [...events, happened('widget.verdict', { toolCallId: 'c', verdict: 'ok', detail: '' })]);
  expect(widget(well)).toEqual([{ server: 'clock', changed: true, verdict: '', detail: '', judged: 4, news: 4 }]);
});

test('a call that is being written is one with the call it becomes, and gone if it becomes none', () => {
  const writing = happened('widget.writing', { id: '7:0', toolName: 'show' });
  const begun = fold(empty, [said('go'), writing, writing]);
  const calls = ({ items }: Conversation) =>
    items.flatMap((it) => (it.kind === 'tool' ? [[it.id, it.written, it.state]] : []));
  expect(calls(begun)).toEqual([['7:0', '7:0', 'running']]);
  const started = fold(begun, [toolStart('c', 'show'), toolStart('d', 'show'), toolDone('c', 'shown')]);
  expect(calls(started)).toEqual([
    ['c', '7:0', 'succeeded'],
    ['d', undefined, 'running'],
  ]);
  expect(calls(fold(begun, [idle()]))).toEqual([]);
});
