import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { EventFeed, FeedFeatures, FeedSubscription, ListenOptions, Notice } from "../../ports/event-feed.ts";
import { noticesIn, noticeTexts } from "./notice-text.ts";

/** The methods of an adapter. `checkedFeed` adds what all feeds have in common. */
export interface FeedMethods {
  readonly name: string;
  readonly features: FeedFeatures;
  /** Sends a text of at most 7,500 ASCII characters. */
  send(text: string): Promise<void>;
  /** Listens for texts, including those of this process. Anything else that comes over the channel may be passed to `hear` too. */
  listen(hear: (text: unknown) => void, options: ListenOptions): Promise<FeedSubscription>;
  /** Frees what the adapter has opened besides listeners. */
  close?(): Promise<void>;
}

/**
 * Makes a feed of an adapter. The feed limits the length of texts that it sends, checks every text that it receives, refuses calls
 * after `close`, and rejects only with `StepfoldError`s.
 */
export function checkedFeed(methods: FeedMethods): EventFeed {
  const { name, features } = methods;
  const listeners = new Set<FeedSubscription>();
  let closing: Promise<void> | null = null;
  const whileOpen = async <T>(work: () => Promise<T>): Promise<T> => {
    if (closing) throw new StepfoldError("FEED_UNAVAILABLE", { feed: name, reason: "it was closed" });
    try {
      return await work();
    } catch (cause) {
      throw feedError(name, cause);
    }
  };
  const listen = async (hear: (notices: readonly Notice[]) => void, { onEnd }: ListenOptions): Promise<FeedSubscription> => {
    let isOpen = true;
    const heard = (text: unknown): void => {
      const notices = isOpen ? noticesIn(text) : [];
      if (notices.length === 0) return;
      try {
        hear(notices);
      } catch {
        // an error in the code of the listener must not end its connection, or the process
      }
    };
    const ended = (cause: unknown): void => {
      if (!isOpen) return;
      isOpen = false;
      listeners.delete(listener);
      onEnd(feedError(name, cause));
    };
    const opening = methods.listen(heard, { onEnd: ended });
    let isClosed: Promise<void> | null = null;
    const listener: FeedSubscription = {
      close() {
        isOpen = false;
        listeners.delete(listener);
        isClosed ??= opening.then((opened) => opened.close()).catch(() => undefined);
        return isClosed;
      },
    };
    await opening;
    listeners.add(listener);
    // the feed was closed while the listener was being opened
    if (closing) await listener.close();
    return listener;
  };
  return {
    name,
    features,
    publish: (notices) => whileOpen(async () => void (await Promise.all(noticeTexts(notices).map((text) => methods.send(text))))),
    listen: (hear, options) => whileOpen(() => listen(hear, options)),
    close() {
      closing ??= Promise.all([...listeners].map((listener) => listener.close()))
        .then(() => methods.close?.())
        .catch(() => undefined);
      return closing;
    },
  };
}

/** Makes a `StepfoldError` of an error of a feed or of its connection. Addresses are removed, because they may contain passwords. */
export function feedError(feed: string, cause: unknown): StepfoldError {
  if (StepfoldError.is(cause)) return cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  const reason = (message || "the connection failed").replace(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, "(address)");
  return new StepfoldError("FEED_UNAVAILABLE", { feed, reason }, { cause });
}

/** Returns the channel. @throws StepfoldError `OPTION_INVALID` if it is not a plain name */
export function checkChannel(channel: unknown): string {
  if (typeof channel === "string" && /^[A-Za-z_][\w.:-]{0,62}$/.test(channel)) return channel;
  throw new StepfoldError("OPTION_INVALID", {
    option: "channel",
    reason: "must be 1 to 63 letters, digits, _ - . and :, a letter or _ first",
  });
}
