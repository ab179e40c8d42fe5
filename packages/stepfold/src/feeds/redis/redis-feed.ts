import { refuseUnknown, requireMethods } from "../../core/values/check-arguments.ts";
import type { EventFeed, FeedSubscription, ListenOptions } from "../../ports/event-feed.ts";
import { checkChannel, checkedFeed } from "../checked/checked-feed.ts";
import type { IoredisSubscriber, NodeRedisSubscriber, RedisFeedClient } from "./redis-feed-client.ts";

/** Options of a feed on Redis. */
export interface RedisFeedOptions {
  /**
   * The channel. All processes of one store need the same one. Several stores on one server need different ones, even in different
   * databases of the server. Default: `stepfold`.
   */
  readonly channel?: string | undefined;
}

/**
 * A feed over PUBLISH and SUBSCRIBE of Redis. Notices are sent over your client. Each listener has a connection of its own, a
 * duplicate of your client, which reconnects by itself.
 *
 * ```ts
 * import { Redis } from "ioredis";
 * import { redisFeed } from "stepfold/feeds/redis";
 *
 * const feed = redisFeed(new Redis("redis://127.0.0.1:6379"));
 * ```
 *
 * @param client a client of ioredis or node-redis, which you open and close
 * @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN`
 */
export function redisFeed(client: RedisFeedClient, options: RedisFeedOptions = {}): EventFeed {
  requireMethods("client", client, "a client of ioredis or redis", ["publish", "duplicate"]);
  refuseUnknown("redisFeed", options, ["channel"]);
  const channel = checkChannel(options.channel ?? "stepfold");
  return checkedFeed({
    name: "redis",
    features: { multiProcess: true },
    async send(text) {
      await client.publish(channel, text);
    },
    // only clients of node-redis have `sPublish`
    listen: (hear, { onEnd }) =>
      "sPublish" in client ? overNodeRedis(client.duplicate(), channel, hear) : overIoredis(client.duplicate(), channel, hear, onEnd),
  });
}

async function overIoredis(
  subscriber: IoredisSubscriber,
  channel: string,
  hear: (text: unknown) => void,
  onEnd: ListenOptions["onEnd"],
): Promise<FeedSubscription> {
  // ioredis reconnects and subscribes again by itself
  subscriber.on("error", () => undefined);
  subscriber.on("end", () => onEnd(new Error("the connection was closed")));
  subscriber.on("message", (from, text) => {
    if (from === channel) hear(text);
  });
  try {
    await subscriber.subscribe(channel);
  } catch (error) {
    subscriber.disconnect();
    throw error;
  }
  return { close: async () => subscriber.disconnect() };
}

async function overNodeRedis(subscriber: NodeRedisSubscriber, channel: string, hear: (text: unknown) => void): Promise<FeedSubscription> {
  subscriber.on("error", () => undefined);
  try {
    await subscriber.connect();
    await subscriber.subscribe(channel, (text) => hear(text));
  } catch (error) {
    destroy(subscriber);
    throw error;
  }
  return { close: async () => destroy(subscriber) };
}

/** Closes a client. `destroy` throws if the client has given up: then it is closed already. */
function destroy(subscriber: NodeRedisSubscriber): void {
  try {
    subscriber.destroy();
  } catch {
    // it was closed already
  }
}
