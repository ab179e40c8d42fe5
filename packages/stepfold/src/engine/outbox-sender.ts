import type { Draft } from "../core/transition/draft/draft.ts";

/** The result of a delivery: the ids of the messages that have arrived, or the error. */
type Delivery = { readonly ids: readonly string[] } | { readonly failure: unknown };

/** Delivers the messages of one execution to others, in order and one batch at a time. */
export class OutboxSender {
  readonly #deliver: (from: Draft) => Promise<readonly string[]>;
  readonly #onNews: () => void;
  /** The result of the last delivery, until the turn has taken it; null if there is none. */
  #news: Delivery | null = null;
  #underWay = false;

  constructor(deliver: (from: Draft) => Promise<readonly string[]>, onNews: () => void) {
    this.#deliver = deliver;
    this.#onNews = onNews;
  }

  get isUnderWay(): boolean {
    return this.#underWay;
  }

  get hasNews(): boolean {
    return this.#news !== null;
  }

  /** Begins to deliver the outbox, which must be committed. Does nothing until the turn has taken the result of the last delivery. */
  send(from: Draft): void {
    if (this.#underWay || this.#news || from.outbox.length === 0) return;
    this.#underWay = true;
    const end = (news: Delivery): void => {
      this.#underWay = false;
      this.#news = news;
      this.#onNews();
    };
    this.#deliver(from).then(
      (ids) => end({ ids }),
      (failure: unknown) => end({ failure }),
    );
  }

  /** The ids of the messages that were delivered since the last call; null if none were, also after a failure (see `check`). */
  arrived(): readonly string[] | null {
    const news = this.#news;
    if (!news || "failure" in news) return null;
    this.#news = null;
    return news.ids;
  }

  /** Throws the error of the last delivery, if it has failed. @throws what the delivery threw */
  check(): void {
    if (this.#news && "failure" in this.#news) throw this.#news.failure;
  }
}
