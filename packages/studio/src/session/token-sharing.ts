/** The part of a `BroadcastChannel` that is needed. The browser delivers its messages only to pages of the same origin. */
export interface TokenChannel {
  postMessage(message: unknown): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
}

/** What tabs say to each other. The token is never kept anywhere: it goes from the memory of a tab to that of another one. */
type TokenMessage =
  | { readonly type: "ask"; readonly from: string }
  | { readonly type: "token"; readonly to: string; readonly token: string };

/** So long a tab waits for the others: they answer at once, or not at all. */
const waitMs = 400;
const maxTokenLength = 10_000;

/** Gives the token of a tab to other tabs of the same origin that ask for it, so that a link that is opened in a new tab works. */
export class TokenSharing {
  readonly #channel: TokenChannel | null;
  readonly #id: string;
  readonly #waiting = new Set<(token: string) => void>();
  #tokenOf: () => string | null = () => null;

  /**
   * @param open opens the channel of the origin. It may throw: then no tab is asked
   * @param id a name of this tab that no other one has
   */
  constructor(open: () => TokenChannel, id: string) {
    this.#id = id;
    this.#channel = opened(open);
    this.#channel?.addEventListener("message", ({ data }) => this.#hear(data as TokenMessage | null));
  }

  /** Gives this token to tabs that ask. @param tokenOf returns null if there is none that the server takes */
  share(tokenOf: () => string | null): void {
    this.#tokenOf = tokenOf;
  }

  /** Asks the other tabs. Null: none has a token. */
  ask(): Promise<string | null> {
    const channel = this.#channel;
    if (!channel) return Promise.resolve(null);
    return new Promise((resolve) => {
      const end = (token: string | null): void => {
        clearTimeout(timer);
        this.#waiting.delete(end);
        resolve(token);
      };
      const timer = setTimeout(() => end(null), waitMs);
      this.#waiting.add(end);
      channel.postMessage({ type: "ask", from: this.#id } satisfies TokenMessage);
    });
  }

  #hear(message: TokenMessage | null): void {
    if (message?.type === "ask" && typeof message.from === "string") {
      const token = this.#tokenOf();
      if (token !== null) this.#channel?.postMessage({ type: "token", to: message.from, token } satisfies TokenMessage);
    } else if (message?.type === "token" && message.to === this.#id) {
      const { token } = message;
      if (typeof token !== "string" || token === "" || token.length > maxTokenLength) return;
      for (const take of [...this.#waiting]) take(token);
    }
  }
}

function opened(open: () => TokenChannel): TokenChannel | null {
  try {
    return open();
  } catch {
    return null;
  }
}
