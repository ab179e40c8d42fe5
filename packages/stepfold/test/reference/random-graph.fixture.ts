import type { ModelDefinition, ModelEdge, ModelNode, ModelWhen } from "./model-definition.fixture.ts";

/** Returns the next random number in [0, 1). The numbers are the same for the same seed. */
export type Chance = () => number;

/** What a random graph may contain; everything by default. */
export interface GraphTraits {
  /** True: only features with which the end does not depend on the order of outcomes: no races, no cancellation, no failing scope. */
  readonly confluent?: boolean;
  /** False: no nodes with children. */
  readonly children?: boolean;
  /** The largest number of nodes. Default 9. */
  readonly maxNodes?: number;
}

/** A seeded generator (mulberry32). */
export function chance(seed: number): Chance {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Returns a number in [0, 1) that depends only on these words. */
export function chanceOf(...words: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const char of words.join("|")) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193);
  return chance(hash)();
}

/** Picks one of the choices at random. */
export function pick<T>(random: Chance, choices: readonly T[]): T {
  const choice = choices[Math.floor(random() * choices.length)];
  if (choice === undefined) throw new RangeError("nothing to pick from");
  return choice;
}

/** A random workflow: forks, joins, handles, circles, waits, children; the same for the same seed. */
export function randomGraph(seed: number, traits: GraphTraits = {}): ModelDefinition {
  const random = chance(seed);
  const root = graph(random, `random-${seed}`, traits);
  if (traits.children === false) return root;
  return { ...root, workflows: { c: graph(random, "c", { ...traits, maxNodes: 4 }), d: graph(random, "d", { ...traits, maxNodes: 3 }) } };
}

function graph(random: Chance, id: string, traits: GraphTraits): ModelDefinition {
  const size = 2 + Math.floor(random() * ((traits.maxNodes ?? 9) - 1));
  const ids = Array.from({ length: size }, (_, index) => `n${index}`);
  const edges = randomEdges(random, ids, traits);
  const nested = traits.children !== false && id !== "d";
  const nodes = ids.map((nodeId) => {
    const incoming = edges.filter((edge) => edge.target === nodeId).length;
    const parts = [joinOf(random, incoming, traits), gatesOf(random, ids, traits), workOf(random, nested, id !== "c", traits)];
    return Object.assign({ id: nodeId, type: "task" }, ...parts) as ModelNode;
  });
  const onFailure = traits.confluent || random() < 0.2 ? "finish" : "stop";
  return { id, start: "n0", nodes, edges, onFailure };
}

function randomEdges(random: Chance, ids: readonly string[], traits: GraphTraits): ModelEdge[] {
  const edges: ModelEdge[] = [];
  const connect = (from: number, to: number, handle: string) => {
    const edge = { source: `n${from}`, target: `n${to}`, ...(handle === "" ? {} : { sourceHandle: handle }) };
    if (!edges.some((other) => JSON.stringify(other) === JSON.stringify(edge))) edges.push(edge);
  };
  const place = (below: number) => Math.floor(random() * below);
  for (let to = 1; to < ids.length; to += 1) {
    for (let times = 1 + place(2.4); times > 0; times -= 1) connect(place(to), to, random() < 0.7 ? "" : pick(random, ["x", "y"]));
  }
  for (let times = place(3); times > 0; times -= 1) {
    const ends = [place(ids.length), place(ids.length)];
    connect(Math.max(...ends), Math.min(...ends), "back");
  }
  if (random() < 0.4) connect(place(ids.length), place(ids.length), "error");
  if (traits.confluent)
    return edges.filter((edge) => edge.sourceHandle !== "error" || Number(edge.source.slice(1)) < Number(edge.target.slice(1)));
  return edges;
}

function joinOf(random: Chance, incoming: number, traits: GraphTraits): Partial<ModelNode> {
  if (incoming === 0 || random() < (incoming === 1 ? 0.85 : 0.25)) return {};
  if (traits.confluent || random() < 0.35) return { join: "all" };
  const threads = random() < 0.12 ? 1 + Math.floor(random() * 2) : 0;
  const join = threads > 0 ? incoming + threads : 1 + Math.floor(random() * incoming);
  return { join, late: pick(random, ["ignore", "cancel", "block"]) };
}

function gatesOf(random: Chance, ids: readonly string[], traits: GraphTraits): Partial<ModelNode> {
  const gates: { mutex?: string; when?: ModelWhen; cancels?: string[] } = {};
  if (random() < 0.15) gates.mutex = pick(random, ["m", "m", "k"]);
  if (traits.confluent) return gates;
  if (random() < 0.1) gates.cancels = random() < 0.7 ? [pick(random, ids)] : [pick(random, ids), pick(random, ids)];
  if (gates.mutex === undefined && random() < 0.07) {
    gates.when = random() < 0.5 ? { at: pick(random, ids) } : { done: pick(random, ids), times: 1 + Math.floor(random() * 2) };
  }
  return gates;
}

function workOf(random: Chance, nested: boolean, inRoot: boolean, traits: GraphTraits): Partial<ModelNode> {
  const dice = random();
  const compensate = !traits.confluent && random() < 0.15 ? { compensate: true } : {};
  const maxAttempts = random() < 0.4 ? { maxAttempts: 2 + Math.floor(random() * 2) } : {};
  if (dice < 0.12) return { type: "wait", ...compensate, ...maxAttempts };
  if (dice < 0.2 && !traits.confluent) return { type: pick(random, ["signal", "race"]), ...compensate };
  if (dice < 0.23 && !traits.confluent) return { type: "end", ...compensate };
  if (dice > 0.3 || !nested) return { ...compensate, ...maxAttempts };
  const workflow = inRoot ? pick(random, ["c", "d"]) : "d";
  if (dice < 0.26) return { type: "workflow", children: { workflow, items: 1 }, ...compensate };
  const items = Math.floor(random() * 5);
  const early =
    !traits.confluent && random() < 0.5
      ? { completeWhen: 1 + Math.floor(random() * 3), remaining: pick(random, ["cancel", "finish"] as const) }
      : {};
  const slots = random() < 0.6 ? { concurrency: 1 + Math.floor(random() * 2) } : {};
  return { type: "map", children: { workflow, items, ...slots, ...early }, ...compensate };
}
