import type { Situation } from "./situation.ts";

const gate = { id: "gate", type: "noop" };
const approval = (id: string): { readonly id: string; readonly type: string } => ({ id, type: "approval" });
const three = ["a", "b", "c"].map((id) => ({ id, type: "set", data: id }));
const choice = (every: boolean): Situation["nodes"][number] => ({
  id: "gate",
  type: "switch",
  data: { every, cases: ["a", "b", "c"].map((id) => ({ when: `{{ input.ways.includes('${id}') }}`, handle: id })) },
});
const toThree = ["gate>a@a", "gate>b@b", "gate>c@c"];
const joined = { id: "join", type: "set", join: "all" as const, data: "{{ inputs.map(({ data }) => data).join('') }}" };
const intoJoin = ["a>join", "b>join", "c>join"];

/** Situations of BPMN that Zeebe tests. */
export const bpmnSituations: readonly Situation[] = [
  {
    name: "a sequence of tasks",
    nodes: [
      { id: "a", type: "task" },
      { id: "b", type: "task", data: { gives: 2 } },
    ],
    edges: ["a>b"],
    output: 2,
  },
  {
    name: "a start event that leads to an end event",
    nodes: [
      { id: "start", type: "noop" },
      { id: "end", type: "end" },
    ],
    edges: ["start>end"],
    output: null,
  },
  { name: "an exclusive gateway", nodes: [choice(false), ...three], edges: toThree, input: { ways: ["b", "c"] }, output: "b" },
  {
    name: "an exclusive gateway with a default flow",
    nodes: [choice(false), ...three, { id: "d", type: "set", data: "d" }],
    edges: [...toThree, "gate>d@default"],
    input: { ways: [] },
    output: "d",
  },
  {
    name: "an exclusive gateway without a flow to take",
    nodes: [choice(false), ...three],
    edges: toThree,
    input: { ways: [] },
    status: "failed",
    error: { code: "HANDLE_UNKNOWN" },
  },
  {
    name: "an exclusive gateway that joins lets every token through",
    nodes: [gate, ...three, { id: "merge", type: "noop" }],
    edges: ["gate>a", "gate>b", "a>merge", "b>merge", "gate>c"],
    visits: { merge: 2 },
  },
  {
    name: "a parallel gateway forks and joins",
    nodes: [gate, ...three, joined],
    edges: ["gate>a", "gate>b", "gate>c", ...intoJoin],
    output: "abc",
  },
  {
    name: "an inclusive gateway takes one flow",
    nodes: [choice(true), ...three, joined],
    edges: [...toThree, ...intoJoin],
    input: { ways: ["c"] },
    output: "c",
  },
  {
    name: "an inclusive gateway takes two of three",
    nodes: [choice(true), ...three, joined],
    edges: [...toThree, ...intoJoin],
    input: { ways: ["a", "c"] },
    output: "ac",
  },
  {
    name: "a parallel gateway waits for a branch with a user task",
    nodes: [gate, { id: "a", type: "set", data: "a" }, approval("b"), { id: "join", type: "set", join: "all", data: "joined" }],
    edges: ["gate>a", "gate>b", "a>join", "b>join@approved"],
    moves: [{ answer: { approved: true }, at: "b" }],
    output: "joined",
  },
  {
    name: "an event-based gateway: a message",
    nodes: [{ id: "gate", type: "race", data: { signals: [{ name: "paid" }], timer: { for: "1h" } } }, ...three.slice(0, 2)],
    edges: ["gate>a@paid", "gate>b@timer"],
    moves: [{ signal: "paid", payload: 4 }],
    output: "a",
  },
  {
    name: "an event-based gateway: a timer",
    nodes: [{ id: "gate", type: "race", data: { signals: [{ name: "paid" }], timer: { for: "1h" } } }, ...three.slice(0, 2)],
    edges: ["gate>a@paid", "gate>b@timer"],
    moves: [{ laterMs: 3_600_000 }],
    output: "b",
  },
  {
    name: "a user task that is completed with variables",
    nodes: [
      {
        id: "form",
        type: "approval",
        data: { schema: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] } },
      },
    ],
    moves: [{ answer: { approved: true, amount: 3 } }],
    output: { approved: true, amount: 3 },
  },
  {
    name: "a user task with candidates",
    nodes: [{ id: "form", type: "approval", data: { responders: ["ada"] } }],
    moves: [{ answer: { approved: false }, by: "ada" }],
    output: { approved: false, by: "ada" },
  },
  {
    name: "an intermediate timer event",
    nodes: [
      { id: "wait", type: "wait", data: { for: "P1D" } },
      { id: "after", type: "set", data: "after" },
    ],
    edges: ["wait>after"],
    moves: [{ laterMs: 86_400_000 }],
    output: "after",
  },
  {
    name: "an intermediate message event with a correlation key",
    nodes: [{ id: "catch", type: "signal", data: { name: "paid", key: "{{ input.order }}" } }],
    input: { order: "o7" },
    moves: [
      { signal: "paid", key: "o8", payload: 1 },
      { signal: "paid", key: "o7", payload: 2 },
    ],
    output: 2,
  },
  {
    name: "a message that comes before its event",
    nodes: [approval("first"), { id: "catch", type: "signal", data: { name: "paid" } }],
    edges: ["first>catch@approved"],
    moves: [
      { signal: "paid", payload: "early" },
      { answer: { approved: true }, at: "first" },
    ],
    output: "early",
  },
  {
    name: "an interrupting timer at the boundary",
    nodes: [{ id: "form", type: "approval", data: { timeout: "2h" } }, ...three.slice(0, 2)],
    edges: ["form>a@approved", "form>b@timeout"],
    moves: [{ laterMs: 7_200_000 }],
    output: "b",
  },
  {
    name: "a timer at the boundary that does not interrupt",
    nodes: [
      gate,
      approval("form"),
      { id: "remind", type: "wait", data: { for: "1h" } },
      { id: "mail", type: "set", data: "mail" },
      { id: "done", type: "set", cancels: ["remind"], data: "done" },
    ],
    edges: ["gate>form", "gate>remind", "remind>mail", "form>done@approved"],
    moves: [{ laterMs: 3_600_000 }, { answer: { approved: true }, at: "form" }],
    visits: { mail: 1, done: 1 },
    output: "done",
  },
  {
    name: "an error event at the boundary",
    nodes: [
      { id: "work", type: "task", data: { failures: 9, code: "invalid" } },
      { id: "caught", type: "set", data: "{{ $json.code }}" },
    ],
    edges: ["work>caught@error"],
    output: "invalid",
  },
  {
    name: "an error end event that the sub-process around it catches",
    nodes: [
      { id: "sub", type: "workflow", data: { workflow: "inner" } },
      { id: "caught", type: "set", data: "{{ $json.code }}" },
    ],
    edges: ["sub>caught@error"],
    workflows: { inner: { nodes: [{ id: "throw", type: "fail", data: { message: "no", code: "E1" } }] } },
    output: "E1",
  },
  {
    name: "a terminate end event",
    nodes: [gate, approval("form"), { id: "stop", type: "end", data: { output: "stopped", terminate: true } }],
    edges: ["gate>form", "gate>stop"],
    output: "stopped",
  },
  {
    name: "an embedded sub-process that waits",
    nodes: [{ id: "sub", type: "workflow", data: { workflow: "inner", input: 7 } }],
    workflows: {
      inner: {
        nodes: [
          { id: "form", type: "approval" },
          { id: "out", type: "set", data: "{{ input }}" },
        ],
        edges: ["form>out@approved"],
      },
    },
    moves: [{ answer: { approved: true }, at: "sub/form" }],
    output: 7,
  },
  {
    name: "an interrupting boundary event at a sub-process",
    nodes: [
      gate,
      { id: "sub", type: "workflow", data: { workflow: "inner" } },
      { id: "stop", type: "signal", data: { name: "stop" } },
      { id: "end", type: "set", cancels: ["sub"], data: "interrupted" },
    ],
    edges: ["gate>sub", "gate>stop", "stop>end"],
    workflows: { inner: { nodes: [{ id: "form", type: "approval" }] } },
    moves: [{ signal: "stop" }],
    output: "interrupted",
  },
  {
    name: "multi-instance, parallel",
    nodes: [{ id: "each", type: "map", data: { workflow: "body", items: "{{ input }}" } }],
    workflows: {
      body: {
        nodes: [
          { id: "one", type: "approval" },
          { id: "out", type: "set", data: "{{ item * 2 }}" },
        ],
        edges: ["one>out@approved"],
      },
    },
    input: [1, 2],
    moves: [
      { answer: { approved: true }, at: "each[1]/one" },
      { answer: { approved: true }, at: "each[0]/one" },
    ],
    output: [2, 4],
  },
  {
    name: "multi-instance with a completion condition",
    nodes: [{ id: "each", type: "map", data: { workflow: "body", items: [1, 2, 3], completeWhen: "done >= 1" } }],
    workflows: {
      body: {
        nodes: [
          { id: "one", type: "approval" },
          { id: "out", type: "set", data: "{{ item }}" },
        ],
        edges: ["one>out@approved"],
      },
    },
    moves: [{ answer: { approved: true }, at: "each[1]/one" }],
    output: [null, 2, null],
  },
  {
    name: "a call activity with its mappings",
    nodes: [{ id: "call", type: "workflow", data: { workflow: "other", input: { x: "{{ input.a }}" } } }],
    workflow: { output: { y: "{{ $('call').item.json.z }}" } },
    workflows: { other: { nodes: [{ id: "out", type: "set", data: { z: "{{ input.x + 1 }}" } }] } },
    input: { a: 1 },
    output: { y: 2 },
  },
  {
    name: "compensation, the newest first",
    nodes: [
      { id: "book", type: "task", data: { gives: "b1" }, compensate: { type: "task", data: { gives: "undid {{ $json }}" } } },
      { id: "pay", type: "fail", data: { message: "no money" } },
    ],
    edges: ["book>pay"],
    status: "failed",
    error: { message: "no money" },
  },
  {
    name: "a link event: a loop back",
    nodes: [
      { id: "count", type: "set", data: "{{ nodes.count.all.length + 1 }}" },
      { id: "again", type: "if", data: { condition: "{{ $json < 3 }}" } },
      { id: "end", type: "noop" },
    ],
    edges: ["count>again", "again>count@true", "again>end@false"],
    workflow: { start: "count" },
    output: 3,
  },
  {
    name: "cancelling a process instance",
    nodes: [approval("form")],
    moves: [{ cancel: true }],
    status: "cancelled",
  },
];
