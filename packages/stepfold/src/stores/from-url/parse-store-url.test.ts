import { describe, expect, it } from "vitest";
import { queueFromUrl } from "../../queues/from-url/queue-from-url.ts";
import { parseStoreUrl } from "./parse-store-url.ts";
import { storeFromUrl } from "./store-from-url.ts";

const plain = "postgres://ada:hunter2@127.0.0.1:1/x";

describe("A17: what is neither a URL nor a path", () => {
  it.each([
    `"${plain}"`,
    `'${plain}'`,
    `"${plain}`,
    `STEPFOLD_STORE=${plain}`,
    "//ada:hunter2@h/x",
    "://ada:hunter2@h/x",
    ":hunter2@h/x",
    `\u200b${plain}`,
    `post gres://ada:hunter2@h/x`,
    `sqlite:${plain}`,
    `sqlite://ada:hunter2@h/x`,
    `sqlite:"${plain}"`,
    "libsql:file://ada:hunter2@h/x",
    encodeURIComponent(plain),
    "postgres%3A//ada:hunter2@h/x",
    "postgres%3A%2F%2Fada%3Ahunter2%40h%2Fx",
    "hunter2:@h/x",
    "hunter2:h",
    "oracle://ada:hunter2@h/x",
    "ORACLE:ada:hunter2@h/x",
    "postgres://ada:hunter2@h:99999/x",
    "POSTGRES://ada:hunter2@h:port/x",
    "postgres:/ada:hunter2@h/x",
    "postgres://ada:hunter2%zz@h/x",
  ])("%j is refused by a store and a queue, and not quoted", async (url) => {
    for (const open of [storeFromUrl, queueFromUrl]) {
      for (const text of [url, ` ${url}`, `\t${url}\n`]) {
        const error = await open(text).then(
          () => null,
          (cause: unknown) => cause as Error,
        );
        expect(error).toMatchObject({ code: "OPTION_INVALID" });
        for (let one: unknown = error; one instanceof Error; one = one.cause) expect(one.stack).not.toContain("hunter2");
        expect(JSON.stringify(error)).not.toContain("hunter2");
      }
    }
  });

  it("is a URL with blanks around it, which do not count", async () => {
    expect(parseStoreUrl(` ${plain}\t\n`)).toEqual({ url: plain, scheme: "postgres", path: null });
    await (await storeFromUrl(" memory:\n")).close();
  });

  it.each([
    ["app.db", "app.db"],
    [" my app.db ", "my app.db"],
    ["./data@home/app.db", "./data@home/app.db"],
    ["C:\\data@home\\app.db", "C:\\data@home\\app.db"],
    ["sqlite:c:/data@home/app.db", "c:/data@home/app.db"],
    ["SQLite:///srv/app.db", "/srv/app.db"],
    ["100%.db", "100%.db"],
  ])("is not %j", (text, path) => {
    expect(parseStoreUrl(text)).toMatchObject({ path });
  });

  it("is no number and no null either", async () => {
    for (const value of [null, undefined, 5, {}]) {
      expect(() => parseStoreUrl(value as never)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
      await expect(storeFromUrl(value as never)).rejects.toMatchObject({ code: "OPTION_INVALID", details: { option: "store" } });
      await expect(queueFromUrl(value as never)).rejects.toMatchObject({ code: "OPTION_INVALID", details: { option: "queue" } });
    }
  });
});
