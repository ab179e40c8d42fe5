import { describe, expect, it } from "vitest";
import { delayRoute, delayTopology, maxDelayMs } from "./delay-topology.ts";

const { queues, queueBindings, exchangeBindings } = delayTopology("q", "classic");

const fits = (pattern: string, key: string): boolean =>
  new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", "[01]").replace("\\.#", "(\\..*)?")}$`).test(key);

/** What RabbitMQ does with a message: how long it waits in all, and where it ends. */
function waits(delayMs: number): { readonly waitedMs: number; readonly queue: string } {
  const { exchange: first, routingKey } = delayRoute("q", delayMs);
  let waitedMs = 0;
  for (let exchange: string | undefined = first; exchange; ) {
    const bound = queueBindings.filter((one) => one.exchange === exchange && fits(one.routingKey, routingKey));
    const onward = exchangeBindings.filter((one) => one.source === exchange && fits(one.routingKey, routingKey));
    // to one queue, or to one exchange: a message is never doubled and never lost
    expect(bound.length + onward.length).toBe(1);
    exchange = onward[0]?.destination;
    if (!bound[0]) continue;
    if (bound[0].queue === "q") return { waitedMs, queue: "q" };
    const settings = queues.find(({ queue }) => queue === bound[0]!.queue)!.arguments;
    waitedMs += Number(settings["x-message-ttl"]);
    exchange = String(settings["x-dead-letter-exchange"]);
    if (exchange === "") return { waitedMs, queue: String(settings["x-dead-letter-routing-key"]) };
  }
  return { waitedMs, queue: "none" };
}

describe("the delays of RabbitMQ", () => {
  const day = 24 * 60 * 60 * 1000;
  it.each([
    1,
    63,
    64,
    65,
    1_000,
    59_999,
    900_000,
    day,
    12 * day + 345,
    maxDelayMs - 1,
    maxDelayMs,
  ])("%d ms are kept, to 64 ms", (delayMs) => {
    const { waitedMs, queue } = waits(delayMs);
    expect(queue).toBe("q");
    expect(waitedMs).toBeGreaterThanOrEqual(delayMs);
    expect(waitedMs).toBeLessThan(delayMs + 64);
  });

  it("keeps no message longer than RabbitMQ allows", () => {
    for (const { arguments: settings } of queues) expect(Number(settings["x-message-ttl"] ?? 0)).toBeLessThan(2 ** 32);
    expect(maxDelayMs).toBeGreaterThan(49 * day);
  });
});
