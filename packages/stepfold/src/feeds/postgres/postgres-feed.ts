import { must, refuseUnknown, requireMethods, requireOption } from "../../core/values/check-arguments.ts";
import type { EventFeed, FeedSubscription, ListenOptions } from "../../ports/event-feed.ts";
import { checkChannel, checkedFeed } from "../checked/checked-feed.ts";
import type { PostgresFeedClient, PostgresListenClient } from "./postgres-feed-client.ts";

/** Options of a feed on PostgreSQL. */
export interface PostgresFeedOptions {
  /** The channel. All processes of one store need the same one; several stores in one database need different ones. Default: `stepfold`. */
  readonly channel?: string | undefined;
}

const makesListeners = must(
  "be a function that makes a client of pg: () => new pg.Client({ connectionString }). Options come after it",
  (value) => typeof value === "function",
);

/**
 * Sends a notice. Its commit does not wait for the disk, because a hint may get lost; but a transaction of the user, in which something was
 * written before, keeps its setting.
 */
const notifyText =
  "SELECT CASE WHEN pg_current_xact_id_if_assigned() IS NULL THEN set_config('synchronous_commit', 'off', true) END, pg_notify($1, $2)";

/**
 * A feed over LISTEN and NOTIFY of PostgreSQL. Notices are sent over your pool. Each listener has a connection of its own, which your
 * function makes, because it must lead to the server itself: through a pooler in transaction mode (each transaction may get another
 * connection), no notices arrive. A runtime detects that, reports it, and polls.
 *
 * ```ts
 * import pg from "pg";
 * import { postgresFeed } from "stepfold/feeds/postgres";
 *
 * const connectionString = "postgres://127.0.0.1:5432/app";
 * const pool = new pg.Pool({ connectionString });
 * const feed = postgresFeed(pool, () => new pg.Client({ connectionString, keepAlive: true }));
 * ```
 *
 * @param client the client for statements, which you open and close
 * @param makeListener makes a client that is not connected; the feed connects and ends it
 * @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN`
 */
export function postgresFeed(
  client: PostgresFeedClient,
  makeListener: () => PostgresListenClient,
  options: PostgresFeedOptions = {},
): EventFeed {
  requireMethods("client", client, "a Pool or Client of pg, or a client like it", ["query"]);
  requireOption("makeListener", makeListener, makesListeners);
  refuseUnknown("postgresFeed", options, ["channel"]);
  const channel = checkChannel(options.channel ?? "stepfold");
  return checkedFeed({
    name: "postgres",
    features: { multiProcess: true },
    async send(text) {
      await client.query(notifyText, [channel, text]);
    },
    async listen(hear, { onEnd }) {
      const listener = makeListener();
      requireMethods("makeListener", listener, "a function that makes a client of pg, or one like it", ["connect", "query", "on", "end"]);
      return listenOver(listener, channel, hear, onEnd);
    },
  });
}

async function listenOver(
  listener: PostgresListenClient,
  channel: string,
  hear: (text: unknown) => void,
  onEnd: ListenOptions["onEnd"],
): Promise<FeedSubscription> {
  // without a listener for errors a lost connection would end the process
  listener.on("error", onEnd);
  listener.on("end", () => onEnd(new Error("the connection was closed")));
  listener.on("notification", (message) => {
    if (message.channel === channel) hear(message.payload);
  });
  try {
    await listener.connect();
    await listener.query(`LISTEN "${channel}"`);
  } catch (error) {
    listener.end().catch(() => undefined);
    throw error;
  }
  return { close: async () => void (await listener.end()) };
}
