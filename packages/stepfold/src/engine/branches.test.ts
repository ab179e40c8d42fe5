import { describe, expect, it } from "vitest";
import type { Event } from "../core/event.ts";
import type { NodeResult, Snapshot } from "../core/snapshot.ts";
import { type Act, acts, Fan, type Join, type Move } from "./branches.fixture.ts";
import { viaJson } from "./engine.fixture.ts";

const tooFew = 'Node "j" waits for';
const allActs = Object.keys(acts) as Act[];

/** What happened so far: how far each branch is, and which have ended, in their order. */
interface History {
  readonly progress: readonly number[];
  readonly ended: readonly number[];
  readonly joined: boolean;
}

/** What must have come of it: the sequential model, which knows nothing of paths, waves and rounds. */
function model(plays: readonly Act[], join: Join, { progress, ended, joined }: History) {
  const n = plays.length;
  const needed = join === "all" ? n : n - 1;
  const said = (i: number, move: Move): string =>
    move === "complete" ? `b${i} done${plays[i] === "resumes" ? ` for b${i}` : ""}` : `b${i} ${move}`;
  const moves = plays.map((act, i) => acts[act].slice(0, progress[i]) as readonly Move[]);
  const delivered = ended.filter((i) => plays[i] !== "cancelled");
  const open = n - ended.length;
  const fires = delivered.length >= needed || (join === "all" && open === 0 && delivered.length > 0);
  const inputs = delivered.slice(0, needed).sort((a, b) => a - b);
  const short = !fires && open === 0 && delivered.length > 0;
  const withdrawn = fires && join === "cancel" ? open : 0;
  const results = Object.fromEntries(
    moves.map((made, i) => [`b${i}`, made.filter((move) => ["complete", "fail", "try"].includes(move)).map((move) => said(i, move))]),
  );
  return {
    results: { ...results, j: joined ? [JSON.stringify(inputs.map((i) => said(i, acts[plays[i]!].at(-1)!)))] : [] },
    fires,
    short,
    over: short || (open - withdrawn === 0 && (!fires || joined)),
  };
}

function seen({ context }: Snapshot, n: number): Record<string, string[]> {
  const told = ({ output, error }: NodeResult): string => error ?? (typeof output === "string" ? output : JSON.stringify(output));
  const nodes = [...Array.from({ length: n }, (_, i) => `b${i}`), "j"];
  // that too few came is told by the status
  return Object.fromEntries(nodes.map((id) => [id, (context[id] ?? []).filter(({ error }) => !error?.startsWith(tooFew)).map(told)]));
}

/** A snapshot without what tells in which order its branches moved. */
function unordered({ output: _, context, rounds = {}, ...rest }: Snapshot): string {
  const results = Object.entries(context).sort(([a], [b]) => (a < b ? -1 : 1));
  const got = Object.entries(rounds).map(([name, round]) => [name, round.got.toSorted()]);
  return JSON.stringify([rest, results, got], (key, value: unknown) => (key === "version" || key === "since" ? undefined : value));
}

/** Lets every branch make every move in every order, and compares with the model after each. */
class Explorer {
  readonly #fan: Fan;
  readonly #plays: readonly Act[];
  readonly #join: Join;
  /** Where orders meet: the snapshot there, and how many orders lead on from it. */
  readonly #met: Map<string, { readonly snapshot: string; orders: number }> | null;

  constructor(fan: Fan, plays: readonly Act[], join: Join, meeting: boolean) {
    this.#fan = fan;
    this.#plays = plays;
    this.#join = join;
    this.#met = meeting ? new Map() : null;
  }

  /** How many orders there are. */
  explore(): Promise<number> {
    return this.#from(this.#fan.start(), { progress: this.#plays.map(() => 0), ended: [], joined: false });
  }

  async #from(snapshot: Snapshot, history: History): Promise<number> {
    this.#check(snapshot, history);
    const key = this.#met && this.#keyOf(history);
    const met = key === null ? undefined : this.#met?.get(key);
    if (met) {
      if (met.snapshot !== unordered(snapshot)) expect(unordered(snapshot), `${key} reached in another order`).toBe(met.snapshot);
      return met.orders;
    }
    let orders = 0;
    for (const [i, act] of this.#plays.entries()) {
      const move: Move | undefined = acts[act][history.progress[i]!];
      if (move === undefined) continue;
      const event = await this.#fan.event(snapshot, `b${i}`, move);
      // a branch that was withdrawn makes no more moves, and no other one is stopped
      const withdrawn = this.#join === "cancel" && model(this.#plays, this.#join, history).fires;
      if ((event === null) !== withdrawn)
        expect(event, `${move} of b${i} in ${JSON.stringify(history)}`).toBe(withdrawn ? null : "an event");
      if (!event) continue;
      const progress = history.progress.with(i, history.progress[i]! + 1);
      const ended = progress[i] === acts[act].length ? [...history.ended, i] : history.ended;
      orders += await this.#after(snapshot, event, { ...history, progress, ended });
    }
    const joined = this.#fan.joined(snapshot);
    if (joined) orders += await this.#after(snapshot, joined, { ...history, joined: true });
    if (key !== null) this.#met?.set(key, { snapshot: unordered(snapshot), orders: orders || 1 });
    return orders || 1;
  }

  async #after(before: Snapshot, event: Event, history: History): Promise<number> {
    const after = this.#fan.apply(before, event);
    expect(after.version).toBe(before.version + 1);
    if (this.#fan.apply(after, event) !== after) expect.fail("the same event, told twice, counted twice");
    if (this.#fan.apply(after, { ...event, version: after.version + 1 }) !== after)
      expect.fail(`${event.type} counted again, although its task or wait was over`);
    if (this.#join === "cancel" && model(this.#plays, this.#join, history).fires) await this.#tellLate(before, after, history);
    for (const [nodeId, results] of Object.entries(before.context)) {
      const kept = after.context[nodeId] ?? [];
      if (!results.every((result, i) => JSON.stringify(kept[i]) === JSON.stringify(result)))
        expect(kept, `what ${nodeId} had given`).toEqual(results);
    }
    return this.#from(this.#met ? after : viaJson(after), history);
  }

  /** What was under way in branches that are withdrawn now. */
  async #tellLate(before: Snapshot, after: Snapshot, { progress, ended }: History): Promise<void> {
    for (const [i, act] of this.#plays.entries()) {
      const event = ended.includes(i) ? null : await this.#fan.event(before, `b${i}`, acts[act][progress[i]!]!);
      if (event && this.#fan.apply(after, { ...event, version: after.version + 1 }) !== after)
        expect.fail(`b${i} was withdrawn, and still its ${event.type} counted`);
    }
  }

  #check(snapshot: Snapshot, history: History): void {
    const expected = model(this.#plays, this.#join, history);
    const told = seen(snapshot, this.#plays.length);
    const where = (): string => JSON.stringify([this.#plays, this.#join, history]);
    if (JSON.stringify(told) !== JSON.stringify(expected.results)) expect(told, where()).toEqual(expected.results);
    const ready = snapshot.activePaths.some(({ nodeId, status }) => nodeId === "j" && status === "ready");
    if (ready !== (expected.fires && !history.joined)) expect(ready, `${where()}: the join is ready`).toBe(!ready);
    const status = expected.short ? "failed" : expected.over ? "completed" : "open";
    const open = ["active", "error", "paused"].includes(snapshot.status);
    if ((open ? "open" : snapshot.status) !== status) expect(snapshot.status, where()).toBe(status);
    if (expected.short) expect(snapshot.error).toMatchObject({ code: "JOIN_SHORT", nodeId: "j" });
  }

  /** Orders with the same key may differ in nothing that matters: the explorer compares them where they meet. */
  #keyOf({ progress, ended, joined }: History): string {
    const needed = this.#join === "all" ? 0 : this.#plays.length - 1;
    const first = ended.filter((i) => this.#plays[i] !== "cancelled").slice(0, needed);
    return JSON.stringify([progress, first.sort(), joined]);
  }
}

/** Every assignment of acts to n branches; `once`: of those that are alike but for their order, one. */
function assignments(n: number, once: boolean): Act[][] {
  if (n === 0) return [[]];
  const after = (last: Act | undefined): Act[] => (once && last ? allActs.slice(allActs.indexOf(last)) : allActs);
  return assignments(n - 1, once).flatMap((rest) => after(rest.at(-1)).map((act) => [...rest, act]));
}

describe("branches that complete, fail, wait, are cancelled or are retried", () => {
  // two and three: every assignment in every order, one by one; four: orders that meet in one state go on together
  it.each<{ n: number; join: Join; orders: number }>([
    { n: 2, join: "all", orders: 132 },
    { n: 2, join: "ignore", orders: 282 },
    { n: 2, join: "cancel", orders: 132 },
    { n: 3, join: "all", orders: 11_856 },
    { n: 3, join: "ignore", orders: 21_498 },
    { n: 3, join: "cancel", orders: 11_856 },
    { n: 4, join: "all", orders: 750_300 },
    { n: 4, join: "ignore", orders: 1_444_168 },
    { n: 4, join: "cancel", orders: 750_300 },
  ])("come to what a sequential model says: $n branches, $join, in each of $orders orders", async ({ n, join, orders }) => {
    const fan = new Fan(n, join);
    let explored = 0;
    for (const plays of assignments(n, n > 3)) explored += await new Explorer(fan, plays, join, n > 3).explore();
    expect(explored).toBe(orders);
  });
});
