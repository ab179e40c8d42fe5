import { expect, it } from "vitest";
import { checkChannel, checkedFeed, feedError } from "./checked-feed.ts";

const notice = { kind: "due", workflowId: "a", version: 1 } as const;

it("tells a listener once that its connection is lost, and not of what comes after", async () => {
  let end: (error: unknown) => void = () => undefined;
  let hear: (text: unknown) => void = () => undefined;
  const feed = checkedFeed({
    name: "toy",
    features: { multiProcess: false },
    send: async (text) => hear(text),
    async listen(heard, { onEnd }) {
      hear = heard;
      end = onEnd;
      return { close: async () => Promise.reject(new RangeError("is closed already")) };
    },
  });
  const told: unknown[] = [];
  const listener = await feed.listen((notices) => told.push(...notices), { onEnd: (error) => told.push(error) });
  await feed.publish([notice]);
  end(new RangeError("cut at redis://user:secret@host:1"));
  end(new RangeError("again"));
  await feed.publish([notice]);
  expect(told).toEqual([
    notice,
    expect.objectContaining({ code: "FEED_UNAVAILABLE", message: 'Feed "toy" did not answer: cut at (address)' }),
  ]);
  await listener.close();
  await feed.close();
});

it("rejects only with FEED_UNAVAILABLE, and keeps the cause", async () => {
  const cause = new RangeError("no");
  const fails = (): Promise<never> => Promise.reject(cause);
  const feed = checkedFeed({ name: "toy", features: { multiProcess: false }, send: fails, listen: fails });
  await expect(feed.publish([notice])).rejects.toMatchObject({ code: "FEED_UNAVAILABLE", cause });
  await expect(feed.listen(() => undefined, { onEnd: () => undefined })).rejects.toMatchObject({ code: "FEED_UNAVAILABLE", cause });
  expect(feedError("toy", "text").message).toContain("text");
  expect(feedError("toy", new RangeError("")).message).toContain("the connection failed");
});

it("takes a plain name as channel", () => {
  expect(checkChannel("app_1.main")).toBe("app_1.main");
  for (const wrong of ["", '"', "1a", "a b", "a".repeat(64), 7, null]) expect(() => checkChannel(wrong)).toThrow("channel");
});
