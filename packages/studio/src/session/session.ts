import { type Client, createClient, type MeView } from "stepfold/client";
import { type Failure, failureOf } from "../ui/feedback/failure.ts";
import type { TextStorage } from "./safe-storage.ts";
import { readToken, writeToken } from "./token.ts";

/** Makes a request. */
type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The other tabs of the same origin. */
interface OtherTabs {
  /** Gives the token to tabs that ask. */
  share(tokenOf: () => string | null): void;
  /** Asks them for a token. Null: none has one. */
  ask(): Promise<string | null>;
}

const noTabs: OtherTabs = { share: () => undefined, ask: () => Promise.resolve(null) };

/** Why the page asks for a token. */
export interface TokenQuestion {
  /** `missing`: the server wants one. `refused`: the server does not take the one that the page had. */
  readonly reason: "missing" | "refused";
  /** A token was entered, and the server has not answered yet. */
  readonly isTrying: boolean;
}

/** Who uses the page. */
export interface SessionState {
  /** Null: not known yet. */
  readonly me: MeView | null;
  /** Not null: the page must ask for a token. What was asked of the server meanwhile waits for it. */
  readonly question: TokenQuestion | null;
  /** Why the server could not be asked who the caller is. */
  readonly failure: Failure | null;
}

/**
 * The session of a tab: its token, and the client that sends it. A request that the server refuses for want of a valid token waits until
 * there is another token, and is then made again. So no page needs to know of it, and nothing that is shown or typed is lost. Before the reader is
 * asked for a token, the other tabs are.
 */
export class Session {
  /** Always the same object, whatever the token is. */
  readonly client: Client;
  readonly #fetch: Fetch;
  readonly #storage: TextStorage;
  readonly #listeners = new Set<() => void>();
  readonly #waiting = new Set<() => void>();
  readonly #tabs: OtherTabs;
  /** The tokens that the server has refused: they are not taken from other tabs. */
  readonly #refused = new Set<string>();
  /** The tabs are being asked. */
  #asking: Promise<boolean> | null = null;
  /** The reader has signed out here: other tabs are not asked. */
  #isSignedOut = false;
  #token: string | null;
  /** The server has refused the token that the tab has, or wants one. */
  #isRefused = false;
  /** How often the server was asked who the caller is. */
  #checks = 0;
  #state: SessionState = { me: null, question: null, failure: null };

  constructor(url: string, storage: TextStorage, fetch: Fetch, tabs: OtherTabs = noTabs) {
    this.#tabs = tabs;
    this.#fetch = fetch;
    this.#storage = storage;
    this.#token = readToken(storage);
    this.client = createClient({ url, fetch: (path, init) => this.#send(path, init) });
    tabs.share(() => (this.#state.me && !this.#isRefused ? this.#token : null));
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly getState = (): SessionState => this.#state;

  /** Asks the server who the caller is. */
  readonly check = (): Promise<void> => {
    this.#update({ failure: null });
    return this.checkAgain();
  };

  /** Asks once more; until there is an answer, the failure of before stays. */
  readonly checkAgain = async (): Promise<void> => {
    const number = ++this.#checks;
    try {
      const me = await this.client.me();
      if (number === this.#checks) this.#update({ me, failure: null });
    } catch (error) {
      // only the last question counts
      if (number === this.#checks) this.#update({ failure: failureOf(error, Date.now()) });
    }
  };

  /** Takes another token. Everything that waits for one is asked again. */
  readonly signIn = (token: string): void => {
    this.#token = token;
    this.#isRefused = false;
    this.#isSignedOut = false;
    writeToken(this.#storage, token);
    const { question, me } = this.#state;
    if (question) this.#update({ question: { ...question, isTrying: true } });
    for (const goOn of this.#waiting) goOn();
    this.#waiting.clear();
    // another token may belong to somebody else
    if (me) void this.check();
  };

  /** Forgets the token, here and in the storage of this tab. */
  readonly signOut = (): void => {
    this.#token = null;
    this.#isRefused = false;
    this.#isSignedOut = true;
    writeToken(this.#storage, null);
    this.#update({ me: null });
    void this.check();
  };

  async #send(url: string, init: RequestInit): Promise<Response> {
    for (;;) {
      const token = this.#token;
      const headers = new Headers(init.headers);
      // what cannot stand in a header is refused without asking
      const isToken = token === null || /^[!-~]+$/.test(token);
      if (token !== null && isToken) headers.set("authorization", `Bearer ${token}`);
      const response = isToken ? await this.#fetch(url, { ...init, headers }) : new Response(null, { status: 401 });
      if (response.status !== 401) {
        // an answer that was under way when the token was refused says nothing about the next one
        if (token === this.#token && !this.#isRefused && this.#state.question) this.#update({ question: null });
        return response;
      }
      await response.body?.cancel();
      if (token !== null) this.#refused.add(token);
      if (token !== this.#token || (await this.#tokenOfTabs())) continue;
      if (token === this.#token) await this.#nextToken(token === null ? "missing" : "refused", init.signal);
    }
  }

  /** Takes the token of another tab. False: none has one that the server might take. */
  #tokenOfTabs(): Promise<boolean> {
    if (this.#isSignedOut || this.#state.question) return Promise.resolve(false);
    this.#asking ??= this.#tabs.ask().then((token) => {
      this.#asking = null;
      if (token === null || this.#refused.has(token) || this.#isSignedOut) return false;
      this.signIn(token);
      return true;
    });
    return this.#asking;
  }

  /** Asks for a token, and waits until there is one. */
  #nextToken(reason: TokenQuestion["reason"], signal: AbortSignal | null | undefined): Promise<void> {
    this.#isRefused = true;
    this.#update({ question: { reason, isTrying: false } });
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.#waiting.delete(resolve);
        reject(signal?.reason);
      };
      if (signal?.aborted) return stop();
      signal?.addEventListener("abort", stop, { once: true });
      this.#waiting.add(() => {
        signal?.removeEventListener("abort", stop);
        resolve();
      });
    });
  }

  #update(change: Partial<SessionState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}
