import { queueError } from "../checked/queue-error.ts";

/** How long a connection may take to open, in milliseconds. */
export const connectMs = 10_000;

/** A client that tries to connect again and again, and reports each failure. */
interface ConnectingClient {
  on(event: "error", listener: (error: unknown) => void): unknown;
}

/**
 * Waits until a client is connected: for 10 s at most, and no longer than until a server refuses the client, because trying again would not
 * help then. Errors that the client reports later are ignored, because the calls that they concern reject with them.
 *
 * @param connecting resolves when the client is connected
 * @param refuses see `queueError`
 * @throws StepfoldError `QUEUE_UNAVAILABLE` or `QUEUE_REJECTED` with the reason that the client gave last
 */
export async function connected(
  queue: string,
  client: ConnectingClient,
  connecting: Promise<unknown>,
  refuses?: (cause: unknown) => boolean,
): Promise<void> {
  let reported: unknown;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const failed = new Promise<never>((_, reject) => {
    client.on("error", (error) => {
      reported = error;
      if (queueError(queue, error, refuses).code === "QUEUE_REJECTED") reject(error);
    });
    timer = setTimeout(() => reject(new Error(`it did not connect within ${connectMs} ms`)), connectMs);
  });
  try {
    await Promise.race([connecting, failed]);
  } catch (error) {
    throw queueError(queue, reported ?? error, refuses);
  } finally {
    clearTimeout(timer);
  }
}
