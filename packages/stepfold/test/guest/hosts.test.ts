import { describe, expect, it } from "vitest";
import { cloudflareHost } from "../../src/guest/cloudflare/cloudflare-host.ts";
import { restateHost } from "../../src/guest/restate/restate-host.ts";

const never = (): never => {
  throw new TypeError("not asked for");
};

describe("hosts", () => {
  it("are not made with options that are none", () => {
    const unknown = expect.objectContaining({ code: "OPTION_UNKNOWN" });
    expect(() => cloudflareHost({ stp: {} } as never)).toThrow(unknown);
    expect(() => restateHost({ context: {} } as never)).toThrow(unknown);
  });

  it("on Cloudflare wait for no more than a year, and say so", async () => {
    const host = cloudflareHost({ step: { do: never, waitForEvent: never }, guest: { perform: never } });
    const later = Date.now() + 366 * 24 * 60 * 60_000;
    await expect(host.wait(later, { name: "1 wait" } as never)).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
      details: { limit: "timerMs" },
    });
  });
});
