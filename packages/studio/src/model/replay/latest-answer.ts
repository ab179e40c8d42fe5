/** Asks one question at a time. While an answer is under way only the last further question is kept, and the one before it is dropped. */
export class LatestAnswer<Question, Answer> {
  readonly #ask: (question: Question) => Promise<Answer>;
  readonly #tell: (answer: Answer, question: Question) => void;
  #isAsking = false;
  #next: { readonly question: Question } | null = null;
  #round = 0;

  constructor(ask: (question: Question) => Promise<Answer>, tell: (answer: Answer, question: Question) => void) {
    this.#ask = ask;
    this.#tell = tell;
  }

  /** Asks. The answer is told unless a later question is asked before its turn, or all are dropped. */
  ask(question: Question): void {
    this.#next = { question };
    if (!this.#isAsking) void this.#run();
  }

  /** Drops the question that is under way and the one after it. */
  drop(): void {
    this.#next = null;
    this.#round++;
  }

  async #run(): Promise<void> {
    this.#isAsking = true;
    while (this.#next) {
      const { question } = this.#next;
      this.#next = null;
      const round = this.#round;
      const answer = await this.#ask(question);
      if (round === this.#round) this.#tell(answer, question);
    }
    this.#isAsking = false;
  }
}
