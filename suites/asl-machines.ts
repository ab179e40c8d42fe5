// biome-ignore-all lint/suspicious/noTemplateCurlyInString: template strings of the language under test
import type { Situation } from "./situation.ts";

const retried = { maxAttempts: 3, interval: "1s", backoff: "exponential" as const };

/** State machines of the Amazon States Language, written as workflows. */
export const aslMachines: readonly Situation[] = [
  { name: "Pass with a result", nodes: [{ id: "pass", type: "set", data: { a: 1 } }], output: { a: 1 } },
  {
    name: "Pass that hands on its input",
    nodes: [{ id: "pass", type: "noop" }],
    input: { x: [1, 2] },
    output: { x: [1, 2] },
  },
  {
    name: "InputPath, Parameters and ResultSelector",
    nodes: [{ id: "work", type: "task", data: { gives: { name: "{{ input.user.name }}", static: 7 } } }],
    workflow: { output: { picked: "{{ $('work').item.json.name }}" } },
    input: { user: { name: "Ada" } },
    output: { picked: "Ada" },
  },
  {
    name: "ResultPath keeps the input beside the result",
    nodes: [
      { id: "work", type: "task", data: { gives: 5 } },
      { id: "joined", type: "set", data: "{{ ({ ...input, result: $json }) }}" },
    ],
    edges: ["work>joined"],
    input: { a: 1 },
    output: { a: 1, result: 5 },
  },
  {
    name: "Choice by a number, and what came goes on",
    nodes: [
      { id: "choice", type: "switch", data: { cases: [{ when: "{{ $json.n > 10 }}", handle: "large" }] } },
      { id: "large", type: "set", data: "large {{ $json.n }}" },
      { id: "small", type: "set", data: "small {{ $json.n }}" },
      { id: "first", type: "noop" },
    ],
    edges: ["first>choice", "choice>large@large", "choice>small@default"],
    input: { n: 11 },
    output: "large 11",
  },
  {
    name: "Choice with And, Or, Not and IsPresent",
    nodes: [
      { id: "choice", type: "if", data: { condition: "{{ ('a' in input) && !(input.b === 2 || input.c === 'x') }}" } },
      { id: "yes", type: "set", data: "yes" },
      { id: "no", type: "set", data: "no" },
    ],
    edges: ["choice>yes@true", "choice>no@false"],
    input: { a: null, b: 3 },
    output: "yes",
  },
  {
    name: "Choice by StringMatches",
    nodes: [
      { id: "choice", type: "if", data: { condition: "{{ /^log-.*\\.txt$/.test(input.file) }}" } },
      { id: "yes", type: "set", data: "a log" },
    ],
    edges: ["choice>yes@true"],
    input: { file: "log-7.txt" },
    output: "a log",
  },
  {
    name: "Wait for seconds hands on its input",
    nodes: [{ id: "wait", type: "wait", data: { for: "{{ input.seconds * 1000 }}" } }],
    input: { seconds: 10 },
    moves: [{ laterMs: 10_000 }],
    output: { seconds: 10 },
  },
  {
    name: "Wait for a timestamp that has passed",
    nodes: [{ id: "wait", type: "wait", data: { until: "2026-01-01T00:00:00Z" } }],
    input: "x",
    output: "x",
  },
  {
    name: "Fail with Error and Cause",
    nodes: [{ id: "fail", type: "fail", data: { message: "{{ input.cause }}", code: "Custom.Error", details: { at: 7 } } }],
    input: { cause: "because" },
    status: "failed",
    error: { code: "Custom.Error", message: "because", details: { at: 7 } },
  },
  {
    name: "Succeed ends one path of several choices",
    nodes: [
      { id: "work", type: "task", data: { gives: "done" } },
      { id: "succeed", type: "end", data: { output: "{{ $json }}" } },
    ],
    edges: ["work>succeed"],
    output: "done",
  },
  {
    name: "Retry with a backoff until it works",
    nodes: [{ id: "work", type: "task", data: { failures: 2, gives: "third" }, retryPolicy: retried }],
    moves: [{ laterMs: 1_000 }, { laterMs: 2_000 }],
    output: "third",
  },
  {
    name: "Retry by ErrorEquals only",
    nodes: [
      {
        id: "work",
        type: "task",
        data: { failures: 1, code: "Other" },
        retryPolicy: { ...retried, retryIf: "error.code === 'Throttled'" },
      },
    ],
    status: "failed",
    error: { code: "Other" },
  },
  {
    name: "Catch by ErrorEquals, with the error as input",
    nodes: [
      { id: "work", type: "task", data: { failures: 9, code: "NoStock" } },
      { id: "catch", type: "switch", data: { value: "{{ $json.code }}", cases: [{ equals: "NoStock", handle: "none" }] } },
      { id: "sorry", type: "set", data: "{{ $json.code }} at {{ $json.nodeId }}" },
      { id: "other", type: "end" },
    ],
    edges: ["work>catch@error", "catch>sorry@none", "catch>other@default"],
    output: "NoStock at work",
  },
  {
    name: "Parallel gives a list of both branches",
    nodes: [
      { id: "fork", type: "noop" },
      { id: "left", type: "task", data: { gives: 1 } },
      { id: "right", type: "task", data: { gives: 2 } },
      { id: "both", type: "set", join: "all", data: "{{ inputs.map(({ data }) => data) }}" },
    ],
    edges: ["fork>left", "fork>right", "left>both", "right>both"],
    output: [1, 2],
  },
  {
    name: "Parallel whose branch fails is caught",
    nodes: [
      { id: "parallel", type: "workflow", data: { workflow: "branches" } },
      { id: "caught", type: "set", data: "caught {{ $json.code }}" },
    ],
    edges: ["parallel>caught@error"],
    workflows: {
      branches: {
        nodes: [
          { id: "fork", type: "noop" },
          { id: "left", type: "task" },
          { id: "right", type: "task", data: { failures: 9, code: "Bad" } },
        ],
        edges: ["fork>left", "fork>right"],
      },
    },
    output: "caught Bad",
  },
  {
    name: "Map with its index, and the input of the execution",
    nodes: [{ id: "map", type: "map", data: { workflow: "each", items: "{{ input.items }}", concurrency: 1 } }],
    workflows: { each: { nodes: [{ id: "one", type: "set", data: "{{ index }}:{{ item }}:{{ execution.input.tag }}" }] } },
    input: { items: ["a", "b"], tag: "t" },
    output: ["0:a:t", "1:b:t"],
  },
  {
    name: "Map with tolerated failures",
    nodes: [
      { id: "map", type: "map", data: { workflow: "each", items: [0, 9], toleratedFailures: "50%" } },
      { id: "count", type: "set", data: "{{ $json.filter(one => one?.error).length }}" },
    ],
    edges: ["map>count"],
    workflows: { each: { nodes: [{ id: "one", type: "task", data: { failures: "{{ item }}", gives: "ok" } }] } },
    output: 1,
  },
  {
    name: "Map that fails is caught by the code of its item",
    nodes: [
      { id: "map", type: "map", data: { workflow: "each", items: [9] } },
      { id: "caught", type: "set", data: "{{ $json.cause.code }} of {{ $json.cause.item }}" },
    ],
    edges: ["map>caught@error"],
    workflows: { each: { nodes: [{ id: "one", type: "task", data: { failures: "{{ item }}", code: "ItemBad" } }] } },
    output: "ItemBad of 0",
  },
  {
    name: "A task with a callback",
    nodes: [{ id: "ask", type: "signal", data: { name: "callback", key: "{{ execution.id }}", timeout: "1h" } }],
    moves: [{ signal: "callback", key: "w1", payload: { token: "done" } }],
    output: { token: "done" },
  },
  {
    name: "A task with a callback that comes too late",
    nodes: [
      { id: "ask", type: "signal", data: { name: "callback", timeout: "1h" } },
      { id: "late", type: "set", data: "late" },
    ],
    edges: ["ask>late@timeout"],
    moves: [{ laterMs: 3_600_000 }],
    output: "late",
  },
  {
    name: "TimeoutSeconds of the whole machine",
    nodes: [{ id: "ask", type: "signal", data: { name: "callback" } }],
    workflow: { timeout: "1h" },
    moves: [{ laterMs: 3_600_000 }],
    status: "failed",
    error: { code: "EXECUTION_TIMED_OUT" },
  },
  {
    name: "Intrinsic functions: Base64, Hash, JSON, Array, Math",
    nodes: [
      {
        id: "all",
        type: "set",
        data: {
          base64: "{{ base64.decode(base64.encode(input.text)) }}",
          hash: "{{ hash.sha1(input.text) }}",
          json: "{{ JSON.parse(JSON.stringify(input)).text }}",
          chunks: "{{ [1, 2, 3].chunk(2) }}",
          unique: "{{ [1, 1, 2].unique() }}",
          same: "{{ uuid().length === 36 && Math.random() < 1 }}",
          format: "{{ `Hello ${input.text}` }}",
        },
      },
    ],
    input: { text: "abc" },
    output: {
      base64: "abc",
      hash: "a9993e364706816aba3e25717850c26c9cd0d89d",
      json: "abc",
      chunks: [[1, 2], [3]],
      unique: [1, 2],
      same: true,
      format: "Hello abc",
    },
  },
  {
    name: "A path that is not there is an error",
    nodes: [{ id: "pass", type: "set", data: "{{ input.missing! }}" }],
    input: {},
    status: "failed",
    error: { code: "EXPRESSION_FAILED" },
  },
  {
    name: "The context object",
    nodes: [{ id: "tell", type: "set", data: "{{ [execution.id, execution.startedAt, execution.workflow, attempt] }}" }],
    output: ["w1", "2026-03-05T14:07:09.000Z", "situation", 1],
  },
];
