import { scopedKey } from "../../../core/snapshot/address.ts";
import type { Event } from "../../../core/snapshot/event.ts";
import { resultOf } from "../../../core/snapshot/result.ts";
import { numberOfStep, stepPathId } from "../../../core/transition/code/code-path.ts";
import { hash32 } from "../../../core/values/hash/seeded.ts";
import type { CodeRun } from "../../../engine/code/code-run.ts";
import type { StepContext } from "../../../engine/node/step-context.ts";
import type { Effect } from "../effects.ts";
import type { Ledger, LedgerEntry } from "../ledger.ts";

/** One run of the code of a scope, in one process. */
interface ObservedRun {
  readonly workflowId: string;
  readonly name: string;
  /** What the code has asked for and got, in this order. */
  readonly trace: string[];
  /** The addresses of the steps whose results the code has got. */
  readonly got: string[];
  /** For each step that the code has asked for, how many results it had got then. */
  readonly awaited: Map<string, number>;
  /** The version of the result that the code got last. */
  version: number;
}

/** The last result of a step that counts. */
interface KnownResult {
  readonly version: number;
  /** The events that gave it a result since the execution was last restarted. */
  readonly times: number;
  /** Whether the process gave it that performed the step: an answer may come from anybody. */
  readonly isOwn: boolean;
  /** Whether the step had a result before a restart: the code may get older results after this one. */
  readonly isAgain: boolean;
}

/** What is known of the results of an execution. */
interface KnownResults {
  readonly of: Map<string, KnownResult>;
  /** How many events were looked at. */
  seen: number;
  restarts: number;
}

/**
 * Checks workflows that are written as code.
 *
 * I26: a step that code has asked for has one result, and is not performed after that. Each run of the code asks for the same, and gets the same in the
 * same order; so a race has one winner. A run that was left gets nothing more. I27: code gets only results that were acknowledged, in the order of their
 * versions, and no step begins before what its code has awaited is acknowledged.
 */
export class ReplayChecks {
  readonly #ledger: Ledger;
  /** What was asked for and got in the longest run so far, by the life of a scope. */
  readonly #traces = new Map<string, string[]>();
  /** The latest run of the code of a scope in each process. */
  readonly #latest = new Map<string, ObservedRun>();
  readonly #known = new WeakMap<LedgerEntry, KnownResults>();
  #runs = 0;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Observes a run of code. Returns its number. */
  begin(run: CodeRun, { workflowId }: StepContext, process: string): number {
    const { key, pathId } = run;
    const name = `${process} ${workflowId} ${scopedKey(key, pathId)}`;
    const observed: ObservedRun = { workflowId, name, trace: [], got: [], awaited: new Map(), version: Number.NEGATIVE_INFINITY };
    const entry = this.#ledger.entries.get(workflowId);
    const known = entry && this.#resultsOf(entry);
    const life = `${workflowId} ${entry?.incarnation} ${known?.restarts} ${scopedKey(key, pathId)}#${run.visit}`;
    const ask = run.ask.bind(run);
    run.ask = (request) => {
      const number = observed.awaited.size + 1;
      const asked = ask(request);
      const step = stepPathId(pathId, number);
      // what was refused has no number
      if (!run.askOf(step)) return asked;
      const address = scopedKey(key, step);
      observed.awaited.set(address, observed.got.length);
      this.#add(observed, life, `asks for step ${number}, "${request.name}"`);
      const got = (how: string): void => this.#deliver(observed, life, address, `gets step ${number}, ${how}`);
      asked.then(
        (value) => got(`given ${hash32(JSON.stringify(value) ?? "")}`),
        (error: unknown) => got(`failed ${hash32(String(error))}`),
      );
      return asked;
    };
    this.#latest.set(name, observed);
    return ++this.#runs;
  }

  /** I26, I27: what a step may not have before it, and what it must have. */
  checkEffect({ workflowId, pathId, machine, isCompensation }: Effect): void {
    const entry = this.#ledger.entries.get(workflowId);
    const run = this.#latest.get(`${machine} ${workflowId} ${pathId.slice(0, pathId.lastIndexOf("."))}`);
    const awaited = run?.awaited.get(pathId);
    if (!entry || !run || awaited === undefined || isCompensation || this.#ledger.failovers > 0) return;
    const { of } = this.#resultsOf(entry);
    const early = run.got.slice(0, awaited).find((address) => !of.has(address));
    if (early)
      this.#violate("I27", run, `step ${pathId} began before the result of ${early} was acknowledged, for which its code had waited`);
    // a process that has lost the execution may not know yet what others have committed
    if (entry.holder?.machine === machine && of.get(pathId)?.isOwn)
      this.#violate("I26", run, `step ${pathId} was performed after its result was committed`);
  }

  /** I26: each step has one result. */
  checkResults(entry: LedgerEntry): void {
    for (const [address, { times }] of this.#resultsOf(entry).of)
      if (times > 1 && this.hasAsked(entry, address)) this.#ledger.violate("I26", `step ${address} has ${times} results`, entry.workflowId);
  }

  /** Whether code has asked for the step of a path: its name may also be that of a node. */
  hasAsked({ workflowId, incarnation }: LedgerEntry, address: string): boolean {
    for (const life of this.#traces.keys()) {
      const [id, of, , code = ""] = life.split(" ");
      if (id === workflowId && of === incarnation && numberOfStep(code.slice(0, code.lastIndexOf("#")), address) !== null) return true;
    }
    return false;
  }

  #deliver(run: ObservedRun, life: string, address: string, what: string): void {
    run.got.push(address);
    this.#add(run, life, what);
    // what a failover has lost may have been delivered before its run was left
    if (this.#latest.get(run.name) !== run && this.#ledger.failovers === 0) this.#violate("I26", run, `a run that was left ${what}`);
    const entry = this.#ledger.entries.get(run.workflowId);
    if (!entry || this.#ledger.failovers > 0) return;
    const result = this.#resultsOf(entry).of.get(address);
    if (!result) this.#violate("I27", run, `the code ${what}, which is not acknowledged`);
    else if (result.version < run.version)
      this.#violate("I27", run, `the code ${what}, of version ${result.version}, after it had got version ${run.version}`);
    if (result && !result.isAgain) run.version = result.version;
  }

  /** I26: the run does the same as the runs before. */
  #add(run: ObservedRun, life: string, what: string): void {
    const known = this.#traces.get(life) ?? [];
    this.#traces.set(life, known);
    const before = known[run.trace.length];
    run.trace.push(what);
    // a failover makes another past true
    if (this.#ledger.failovers > 0) return;
    if (before === undefined) known.push(what);
    else if (before !== what) this.#violate("I26", run, `the code ${what}, and before it ${before}`);
  }

  #resultsOf(entry: LedgerEntry): KnownResults {
    const known = this.#known.get(entry) ?? { of: new Map<string, KnownResult>(), seen: 0, restarts: 0 };
    this.#known.set(entry, known);
    for (const event of entry.events.slice(known.seen)) {
      if (event.type === "restarted") {
        known.restarts++;
        for (const [address, result] of known.of) known.of.set(address, { ...result, times: 0, isOwn: false });
      }
      for (const { address, version, counts, isOwn } of resultsIn(event)) {
        const before = known.of.get(address);
        const isAgain = before !== undefined && (before.isAgain || before.times === 0);
        known.of.set(address, { version, isOwn, isAgain, times: (before?.times ?? 0) + Number(counts) });
      }
    }
    known.seen = entry.events.length;
    return known;
  }

  #violate(rule: string, { workflowId, name }: ObservedRun, message: string): void {
    this.#ledger.violate(rule, `${message} (${name})`, workflowId);
  }
}

/** A result that an event gives. */
interface GivenResult {
  readonly address: string;
  readonly version: number;
  /** False if the step may have another result: it is tried again, or it comes from another execution. */
  readonly counts: boolean;
  readonly isOwn: boolean;
}

/** Returns the results of steps that an event gives for good. */
function resultsIn(event: Event): GivenResult[] {
  const given: GivenResult[] = [];
  const own = "undoes" in event && event.undoes ? null : resultOf(event);
  const isTriedAgain = event.type === "failed" && (event.retryAt !== null || event.incident === true);
  const scope = "scope" in event ? event.scope : undefined;
  if (own && !isTriedAgain) {
    const isOwn = event.type !== "timedOut";
    given.push({ address: scopedKey(scope ?? "", own.result.pathId), version: event.version, counts: isOwn, isOwn });
  }
  for (const { scope: place = "", result } of event.consequences?.results ?? [])
    given.push({ address: scopedKey(place, result.pathId), version: event.version, counts: result.error === undefined, isOwn: false });
  if (event.type !== "started" || !event.checkpoint) return given;
  const { context, childStates = {} } = event.checkpoint.state;
  const scopes = [["", context] as const, ...Object.entries(childStates).map(([key, child]) => [key, child.context] as const)];
  for (const [place, results] of scopes)
    for (const { pathId, version } of Object.values(results).flat())
      given.push({ address: scopedKey(place, pathId), version, counts: false, isOwn: false });
  return given;
}
