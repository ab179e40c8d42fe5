/** The rows that transactions of other programs lock for a while, by the id of the execution. */
export class RowLocks {
  readonly #nowMs: () => number;
  readonly #untilMs = new Map<string, number>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  lock(workflowId: string, forMs: number): void {
    this.#untilMs.set(workflowId, Math.max(this.endOf(workflowId), this.#nowMs() + forMs));
  }

  /** For how many more milliseconds the row is locked; 0 if it is not locked. */
  forMs(workflowId: string): number {
    return Math.max(0, this.endOf(workflowId) - this.#nowMs());
  }

  /** When the latest lock of the row ends or has ended, in milliseconds since the schedule began; 0 if it never had a lock. */
  endOf(workflowId: string): number {
    return this.#untilMs.get(workflowId) ?? 0;
  }

  /** Ends all transactions at once. */
  clear(): void {
    for (const [workflowId, untilMs] of this.#untilMs) this.#untilMs.set(workflowId, Math.min(untilMs, this.#nowMs()));
  }
}
