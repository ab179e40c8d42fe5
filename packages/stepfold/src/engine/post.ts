import type { Draft } from "../core/transition/draft/draft.ts";

type News = { readonly ids: readonly string[] } | { readonly failure: unknown };

/** Takes the messages of one execution to others, in their order and one lot at a time. */
export class Post {
  readonly #deliver: (from: Draft) => Promise<readonly string[]>;
  readonly #onNews: () => void;
  #news: News | null = null;
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

  /** Sends off what is in the outbox, which has to be committed. */
  send(from: Draft): void {
    if (this.#underWay || this.#news || from.outbox.length === 0) return;
    this.#underWay = true;
    const end = (news: News): void => {
      this.#underWay = false;
      this.#news = news;
      this.#onNews();
    };
    this.#deliver(from).then(
      (ids) => end({ ids }),
      (failure: unknown) => end({ failure }),
    );
  }

  /** What has arrived since it was last asked; null if nothing has. */
  arrived(): readonly string[] | null {
    const news = this.#news;
    if (!news || "failure" in news) return null;
    this.#news = null;
    return news.ids;
  }

  /** @throws what delivering threw */
  check(): void {
    if (this.#news && "failure" in this.#news) throw this.#news.failure;
  }
}
