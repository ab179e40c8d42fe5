import type { Event, Snapshot, WorkflowDefinition } from "stepfold/core";
import type { ExecutionState } from "./execution-state.ts";
import type { ReplayAnswer, ReplayRequest } from "./replay-messages.ts";

/** The other end: a worker, or in tests a function of the same thread. */
export interface ReplayPort {
  post(message: ReplayRequest): void;
  /** Called for each answer. */
  onAnswer: ((answer: ReplayAnswer) => void) | null;
  close(): void;
}

/** Folds the events of an execution elsewhere, and tells its state at any version. Answers come in the order of the questions. */
export class ReplayClient {
  readonly #port: ReplayPort;
  readonly #open = new Map<number, (answer: ReplayAnswer | null) => void>();
  #last = 0;

  constructor(port: ReplayPort) {
    this.#port = port;
    port.onAnswer = (answer) => {
      const settle = this.#open.get(answer.request);
      this.#open.delete(answer.request);
      settle?.(answer);
    };
  }

  /** Forgets all events and definitions. */
  reset(): void {
    this.#port.post({ type: "reset" });
  }

  /** Adds a definition; null: it cannot be had, so that its events are not folded. */
  define(hash: string, definition: WorkflowDefinition | null): void {
    this.#port.post({ type: "define", hash, definition });
  }

  /** Adds events, each later than those before. */
  add(events: readonly Event[]): void {
    if (events.length > 0) this.#port.post({ type: "add", events });
  }

  /** Returns the state at a version; null if it is not known, or not yet. */
  async state(version: number): Promise<ExecutionState | null> {
    const answer = await this.#ask((request) => ({ type: "state", request, version }));
    return answer && "state" in answer ? answer.state : null;
  }

  /** Returns the snapshot at a version; null if it is not known, or not yet. */
  async snapshot(version: number): Promise<Snapshot | null> {
    const answer = await this.#ask((request) => ({ type: "snapshot", request, version }));
    return answer && "snapshot" in answer ? answer.snapshot : null;
  }

  /** Ends the other thread. Questions that are open are answered with null. */
  close(): void {
    this.#port.close();
    for (const settle of this.#open.values()) settle(null);
    this.#open.clear();
  }

  #ask(messageOf: (request: number) => ReplayRequest): Promise<ReplayAnswer | null> {
    const request = ++this.#last;
    return new Promise((resolve) => {
      this.#open.set(request, resolve);
      this.#port.post(messageOf(request));
    });
  }
}
