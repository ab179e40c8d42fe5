/** Rows that transactions of others hold for a while, by the id of the execution. */
export class RowLocks {
  readonly #nowMs: () => number;
  readonly #untilMs = new Map<string, number>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  lock(workflowId: string, forMs: number): void {
    this.#untilMs.set(workflowId, Math.max(this.endOf(workflowId), this.#nowMs() + forMs));
  }

  /** For how long it still is locked; 0: it is not. */
  forMs(workflowId: string): number {
    return Math.max(0, this.endOf(workflowId) - this.#nowMs());
  }

  /** When its latest lock ends or has ended, in milliseconds since the schedule began; 0: it never had one. */
  endOf(workflowId: string): number {
    return this.#untilMs.get(workflowId) ?? 0;
  }

  /** All transactions end at once. */
  clear(): void {
    for (const [workflowId, untilMs] of this.#untilMs) this.#untilMs.set(workflowId, Math.min(untilMs, this.#nowMs()));
  }
}
