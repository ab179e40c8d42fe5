// biome-ignore-all lint/suspicious/noTemplateCurlyInString: template strings of the language under test
import type { Situation } from "./situation.ts";

const call = (gives: unknown): { readonly gives: never } => ({ gives: gives as never });

/** Scenarios of Serverless Workflow's conformance kit. A task that answers takes the place of each called service. */
export const ctkScenarios: readonly Situation[] = [
  {
    name: "call: an HTTP endpoint with a path from the input",
    nodes: [{ id: "get", type: "task", data: call({ id: "{{ input.petId }}", name: "Rex" }) }],
    input: { petId: 1 },
    output: { id: 1, name: "Rex" },
  },
  {
    name: "call: only the answer's content",
    nodes: [{ id: "get", type: "task", data: call({ status: 200, body: { ok: true } }) }],
    workflow: { output: "{{ $('get').item.json.body }}" },
    output: { ok: true },
  },
  {
    name: "call: the header of basic authentication",
    nodes: [{ id: "header", type: "set", data: "Basic {{ base64.encode(globals.user + ':' + globals.password) }}" }],
    globals: { user: "Aladdin", password: "open sesame" },
    output: "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
  },
  {
    name: "call: a bearer token that is a secret",
    nodes: [{ id: "get", type: "task", data: call("{{ globals.token.length }}") }],
    globals: { token: "abcdef" },
    output: 6,
  },
  {
    name: "do: tasks one after the other",
    nodes: [
      { id: "one", type: "set", data: { colors: ["red"] } },
      { id: "two", type: "set", data: { colors: "{{ [...$json.colors, 'green'] }}" } },
      { id: "three", type: "set", data: { colors: "{{ [...$json.colors, 'blue'] }}" } },
    ],
    edges: ["one>two", "two>three"],
    output: { colors: ["red", "green", "blue"] },
  },
  {
    name: "flow: a task that says where to go on",
    nodes: [
      { id: "one", type: "set", data: 1 },
      { id: "skipped", type: "set", data: 2 },
      { id: "three", type: "set", data: "{{ $json + 2 }}" },
    ],
    edges: ["one>three", "skipped>three"],
    workflow: { start: "one" },
    output: 3,
  },
  {
    name: "flow: an end before the end",
    nodes: [
      { id: "one", type: "set", data: 1 },
      { id: "stop", type: "end", data: { output: "{{ $json }}", terminate: true } },
    ],
    edges: ["one>stop"],
    output: 1,
  },
  {
    name: "for: every item in turn",
    nodes: [{ id: "each", type: "map", data: { workflow: "body", items: "{{ input.colors }}", concurrency: 1 } }],
    workflows: { body: { nodes: [{ id: "one", type: "set", data: "{{ index }} {{ item }}" }] } },
    input: { colors: ["red", "green"] },
    output: ["0 red", "1 green"],
  },
  {
    name: "for: a running value, as a loop",
    nodes: [
      {
        id: "sum",
        type: "set",
        data: {
          i: "{{ (nodes.sum.last?.data.i ?? 0) + 1 }}",
          total: "{{ (nodes.sum.last?.data.total ?? 0) + input.n[nodes.sum.all.length] }}",
        },
      },
      { id: "more", type: "if", data: { condition: "{{ $json.i < input.n.length }}" } },
      { id: "done", type: "set", data: "{{ $json.total }}" },
    ],
    edges: ["sum>more", "more>sum@true", "more>done@false"],
    workflow: { start: "sum" },
    input: { n: [1, 2, 3] },
    output: 6,
  },
  {
    name: "fork: all branches",
    nodes: [
      { id: "fork", type: "noop" },
      { id: "a", type: "set", data: "a" },
      { id: "b", type: "set", data: "b" },
      { id: "all", type: "set", join: "all", data: "{{ inputs.map(({ data }) => data).join('') }}" },
    ],
    edges: ["fork>a", "fork>b", "a>all", "b>all"],
    output: "ab",
  },
  {
    name: "fork: branches that compete",
    nodes: [
      { id: "fork", type: "noop" },
      { id: "slow", type: "wait", data: { for: "1h" } },
      { id: "quick", type: "set", data: "quick" },
      { id: "first", type: "noop", join: 1, late: "cancel" },
    ],
    edges: ["fork>slow", "fork>quick", "slow>first", "quick>first"],
    output: "quick",
  },
  {
    name: "listen: to any event",
    nodes: [
      { id: "any", type: "race", data: { signals: [{ name: "a" }, { name: "b" }] } },
      { id: "after", type: "set", data: "{{ $json.winner }}" },
    ],
    edges: ["any>after@a", "any>after@b"],
    moves: [{ signal: "b" }],
    output: "b",
  },
  {
    name: "raise: an error with a type, a title and an instance",
    nodes: [
      { id: "raise", type: "fail", data: { message: "Not enough", code: "compliance", details: { status: 400, instance: "/do/0" } } },
    ],
    status: "failed",
    error: { code: "compliance", message: "Not enough", details: { status: 400, instance: "/do/0" } },
  },
  {
    name: "run: another workflow",
    nodes: [{ id: "run", type: "workflow", data: { workflow: "other", input: { n: "{{ input.n }}" } } }],
    workflows: { other: { nodes: [{ id: "double", type: "set", data: "{{ input.n * 2 }}" }] } },
    input: { n: 4 },
    output: 8,
  },
  {
    name: "set: values made of the input",
    nodes: [{ id: "set", type: "set", data: { shape: "circle", size: "{{ input.size }}", fill: "{{ `rgb(${input.rgb})` }}" } }],
    input: { size: 3, rgb: "1,2,3" },
    output: { shape: "circle", size: 3, fill: "rgb(1,2,3)" },
  },
  {
    name: "switch: the first case that fits, over what came",
    nodes: [
      { id: "in", type: "noop" },
      {
        id: "switch",
        type: "switch",
        data: {
          cases: [
            { when: "{{ $json.color === 'red' }}", handle: "red" },
            { when: "{{ $json.color === 'green' }}", handle: "green" },
          ],
        },
      },
      { id: "set", type: "set", data: "{{ $json.color }} it is" },
      { id: "other", type: "end" },
    ],
    edges: ["in>switch", "switch>set@green", "switch>set@red", "switch>other@default"],
    input: { color: "green" },
    output: "green it is",
  },
  {
    name: "switch: the default",
    nodes: [
      { id: "switch", type: "switch", data: { value: "{{ input.color }}", cases: [{ equals: "red", handle: "red" }] } },
      { id: "red", type: "end" },
      { id: "other", type: "set", data: "{{ $json.color }}" },
    ],
    edges: ["switch>red@red", "switch>other@default"],
    input: { color: "blue" },
    output: "blue",
  },
  {
    name: "try: what fails is caught",
    nodes: [
      { id: "get", type: "task", data: { failures: 9, code: "404" } },
      { id: "catch", type: "set", data: { error: "{{ $json.code }}" } },
    ],
    edges: ["get>catch@error"],
    output: { error: "404" },
  },
  {
    name: "try: a catch that is meant for other errors",
    nodes: [
      { id: "get", type: "task", data: { failures: 9, code: "500" } },
      { id: "which", type: "switch", data: { value: "{{ $json.code }}", cases: [{ equals: "404", handle: "known" }] } },
      { id: "known", type: "end" },
      { id: "again", type: "fail", data: { message: "{{ $json.message }}", code: "{{ $json.code }}" } },
    ],
    edges: ["get>which@error", "which>known@known", "which>again@default"],
    status: "failed",
    error: { code: "500", message: "it fails" },
  },
  {
    name: "try: again, after a while",
    nodes: [
      { id: "get", type: "task", data: { failures: 1, gives: "ok" }, retryPolicy: { maxAttempts: 2, interval: "3s", backoff: "fixed" } },
    ],
    moves: [{ laterMs: 3_000 }],
    output: "ok",
  },
  {
    name: "wait: for a duration in ISO 8601",
    nodes: [{ id: "wait", type: "wait", data: { for: "PT30S" } }],
    input: { a: 1 },
    moves: [{ laterMs: 30_000 }],
    output: { a: 1 },
  },
];
