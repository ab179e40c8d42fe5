import type { AppendedRow, Environment, Event, Snapshot, SnapshotStore } from "stepfold";
import type { ExecutionView, ProgressFrame } from "stepfold/client";
import { type CompiledWorkflow, Replay } from "stepfold/core";
import type { Audience } from "../views/audience.ts";
import { executionView } from "../views/execution-view.ts";
import { History } from "./history.ts";
import type { Workflows } from "./workflows.ts";

/** Heads and progress are told at most once in this time. */
const headMs = 250;
const pageSize = 500;
/** A problem that lasts is told this often. */
const problemMs = 5_000;

/** Why a tail ends. `replaced`: its events do not go on from what it knows, so it has to be opened anew. */
export type TailEnd = "gone" | "replaced";

/** Somebody who is told what happens to an execution. */
export interface TailWatcher {
  event(row: AppendedRow): void;
  head(): void;
  progress(frame: ProgressFrame): void;
  problem(code: string): void;
  ended(reason: TailEnd): void;
}

/** What a tail needs. */
export interface TailSite {
  readonly store: SnapshotStore;
  readonly workflows: Workflows;
  readonly environment: Environment;
  /** The store's clock, as far as it is known without asking. */
  readonly storeNow: () => number;
}

/** An execution that is looked at: its state, its latest events, and those who watch. There is one of it, however many they are. */
export class Tail {
  readonly workflowId: string;
  readonly incarnation: string;
  readonly history: History;
  readonly watchers: Set<TailWatcher> = new Set();
  readonly #site: TailSite;
  readonly #replay: Replay;
  readonly #loaded: Map<string, CompiledWorkflow>;
  readonly #progress = new Map<string, ProgressFrame>();
  readonly #views = new Map<Audience, ExecutionView>();
  #state: Snapshot | null = null;
  #lease: ExecutionView["lease"] = null;
  #noWorker: string | null = null;
  #stopHead: (() => void) | null = null;
  #reading: Promise<void> | null = null;
  #isBehind = false;
  #isEnded = false;
  #hasProblem = false;
  #problemAtMs = 0;

  private constructor(site: TailSite, snapshot: Snapshot, workflow: CompiledWorkflow) {
    this.#site = site;
    this.workflowId = snapshot.workflowId;
    this.incarnation = snapshot.incarnation ?? "";
    this.#loaded = new Map([[workflow.hash, workflow]]);
    this.#replay = new Replay(workflow, snapshot, (hash) => this.#loaded.get(hash) ?? workflow);
    this.history = new History(site.store, snapshot.workflowId, snapshot.version);
  }

  /** Opens the tail of an execution. Null: it does not exist. The definition must be there, or there is no state to tell. */
  static async open(site: TailSite, workflowId: string): Promise<Tail | null> {
    const snapshot = await site.store.load(workflowId);
    if (!snapshot) return null;
    const workflow = await site.workflows.get(snapshot.definition.hash);
    return workflow && new Tail(site, snapshot, workflow);
  }

  get version(): number {
    return this.#replay.version;
  }

  /** It tells nothing any more: it has to be opened anew. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** The state at the last version that was told. */
  get snapshot(): Snapshot {
    this.#state ??= this.#replay.snapshot()!;
    return this.#state;
  }

  /** About how many bytes of JSON the execution holds. */
  get sizeBytes(): number {
    return this.snapshot.sizeBytes;
  }

  /** The state as a caller sees it. */
  view(sees: Audience): ExecutionView {
    const storeNow = this.#site.storeNow();
    const known = this.#views.get(sees);
    if (known) return { ...known, storeNow };
    const { snapshot } = this;
    const workflow = this.#loaded.get(snapshot.definition.hash) ?? null;
    const view = executionView({ snapshot, workflow, lease: this.#lease, noWorker: this.#noWorker, storeNow }, sees);
    this.#views.set(sees, view);
    return view;
  }

  /** Takes an event that the process which made it has told. If it is the next one, nothing is read. */
  take(event: Event): void {
    if (event.version <= this.version) return;
    const isNext = event.version === this.version + 1 && !this.#reading && !needsDefinition(event);
    if (!isNext || !this.#add({ version: event.version, commitId: "", event })) this.pull();
  }

  /** Tells the progress of a step. */
  report(frame: ProgressFrame): void {
    this.#progress.set(frame.pathId, frame);
    this.#headSoon();
  }

  /** Takes what a list of the store says of the process that holds the execution. */
  heldBy(lease: ExecutionView["lease"]): void {
    if (lease?.owner === this.#lease?.owner) return;
    this.#lease = lease;
    this.#headSoon();
  }

  /** Takes why no living worker can run it; null: nothing is known of that. */
  leftBy(noWorker: string | null): void {
    if (noWorker === this.#noWorker) return;
    this.#noWorker = noWorker;
    this.#headSoon();
  }

  /** Reads what is new. A call while a read is under way makes one more read after it. */
  pull(): void {
    this.#isBehind = true;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
  }

  /** Tells that the store could not be asked. */
  problem(error: unknown): void {
    const nowMs = this.#site.environment.monotonicMs();
    if (this.#hasProblem && nowMs - this.#problemAtMs < problemMs) return;
    this.#hasProblem = true;
    this.#problemAtMs = nowMs;
    const { code } = error as { readonly code?: unknown };
    for (const watcher of this.watchers) watcher.problem(typeof code === "string" ? code : "INTERNAL");
  }

  /** The store has answered: if there was a problem, the state is told again, because perhaps nothing else follows that shows its end. */
  recover(): void {
    if (!this.#hasProblem) return;
    this.#hasProblem = false;
    this.#headSoon();
  }

  /** Tells all watchers that there is nothing more to tell. */
  end(reason: TailEnd): void {
    this.#isEnded = true;
    this.#stopHead?.();
    const watchers = [...this.watchers];
    this.watchers.clear();
    for (const watcher of watchers) watcher.ended(reason);
  }

  async #read(): Promise<void> {
    try {
      while (this.#isBehind) {
        this.#isBehind = false;
        const rows = await this.#site.store.events(this.workflowId, this.version, pageSize);
        for (const row of rows) {
          await this.#loadDefinition(row.event);
          if (row.version > this.version && !this.#add(row)) return this.end("replaced");
        }
        if (rows.length === pageSize) this.#isBehind = true;
      }
      this.recover();
    } catch (error) {
      this.problem(error);
    }
  }

  async #loadDefinition(event: Event): Promise<void> {
    if (!needsDefinition(event) || this.#loaded.has(event.definition.hash)) return;
    const workflow = await this.#site.workflows.get(event.definition.hash);
    if (workflow) this.#loaded.set(workflow.hash, workflow);
  }

  #add(row: AppendedRow): boolean {
    if (!this.#replay.add(row.event)) return false;
    this.history.append(row);
    for (const watcher of this.watchers) watcher.event(row);
    this.#state = null;
    // perhaps a worker has done it
    this.#noWorker = null;
    this.#headSoon();
    return true;
  }

  #headSoon(): void {
    this.#views.clear();
    this.#stopHead ??= this.#site.environment.after(
      headMs,
      () => {
        this.#stopHead = null;
        const told = [...this.#progress.values()];
        this.#progress.clear();
        for (const watcher of this.watchers) {
          for (const frame of told) watcher.progress(frame);
          watcher.head();
        }
      },
      { background: true },
    );
  }
}

/** True for an event after which the execution may follow another definition. */
function needsDefinition(event: Event): event is Event & { readonly type: "continued" | "restarted" } {
  return event.type === "continued" || event.type === "restarted";
}
