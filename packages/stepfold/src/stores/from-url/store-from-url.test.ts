import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { snapshotAfter, startCommit } from "../../testing/commit-builder.ts";
import { openNodeRedis } from "./connect-redis.ts";
import { siteFromUrl, storeFromUrl } from "./store-from-url.ts";

const folder = mkdtempSync(join(tmpdir(), "stepfold-url-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const here = relative(process.cwd(), folder);

describe("storeFromUrl", () => {
  it.each([
    ["memory:", null],
    [join(folder, "a.db"), "a.db"],
    [`sqlite:${join(folder, "b.db")}`, "b.db"],
    [`sqlite://${join(folder, "c.db")}`, "c.db"],
    [`SQLite:${join(folder, "d.db")}`, "d.db"],
    [join(here, "e.db"), "e.db"],
    [`sqlite://${join(here, "f.db")}`, "f.db"],
    [`libsql:file:${join(folder, "g.db")}`, "g.db"],
    [`libsql:file:${join(here, "h.db")}`, "h.db"],
    ["libsql::memory:", null],
  ])("%s keeps executions until it is closed", async (url, file) => {
    const store = await storeFromUrl(url);
    const commit = startCommit("order-1");
    await store.create(commit);
    expect(await store.load("order-1")).toMatchObject(snapshotAfter(commit));
    if (file !== null) expect(existsSync(join(folder, file))).toBe(true);
    await store.close();
    await store.close();
    await expect(store.load("order-1")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  it("takes one letter before a colon for a drive", async () => {
    const site = await siteFromUrl("C:\\data\\app.db");
    expect(site).toMatchObject({ name: "sqlite", space: "C:\\data\\app.db" });
    expect(await siteFromUrl("sqlite:c:/data/app.db")).toMatchObject({ name: "sqlite", space: "c:/data/app.db" });
  });

  it("names the schemes there are", async () => {
    await expect(storeFromUrl("oracle://ada:s3cret@db/app")).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringMatching(/"oracle:".*memory, sqlite, postgres, postgresql, mysql, mariadb, redis/),
    });
    await expect(storeFromUrl("constructor:x")).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });

  it.each([
    ["", /no file/],
    ["sqlite:", /no file/],
    ["postgres://ada:s3cret@db/app?pool=abc", /"pool".*"abc"/],
    ["postgres://ada:s3cret@db/app?pool=0", /"pool"/],
    ["postgres://ada:s3cret@db/app?schema=a-b", /letters/],
    ["postgres://ada:s3/cret@db/app", /%2F for \//],
    ["postgres://ada:s3cret%zz@db/app", /is not a valid URL/],
    ["mysql://ada:s3cret@db/app?pool=1.5", /"pool"/],
    ["mysql://ada:s3cret@db/app?prefix=a-b", /prefix/],
    ["mysql:ada:s3cret@db/app", /is not a valid URL/],
    ["redis://:s3/cret@db:x", /is not a valid URL/],
    ["redis://:s3cret@127.0.0.1:1?prefix=*", /prefix/],
    ["upstash://host", /no token/],
    ["upstash://:s3cret%zz@host", /is not a valid URL/],
    ["upstash:ftp://host?token=s3cret", /upstash:https/],
    ["upstash:nonsense", /is not a valid URL/],
    ["libsql:", /is not a valid URL/],
    ["libsql:nonsense?authToken=s3cret", /is not a valid URL/],
    ["libsql:ftp://ada:s3cret@db", /not accepted by the driver/],
    ["mongodb://", /not accepted by the driver/],
    ["mongodb://ada:s3cret@db/app?retryReads=maybe", /not accepted by the driver/],
    ["mongodb://ada:s3cret@db/app?prefix=a-b", /prefix/],
    ["dynamodb://region", /a region and a table/],
    ["dynamodb:///table", /a region and a table/],
    ["dynamodb://region/table?endpoint=nonsense", /is not a valid URL/],
    ["dynamodb://region/table?endpoint=ftp://ada:s3cret@x", /"endpoint"/],
  ])("%s is refused, without the password", async (url, says) => {
    const error = await storeFromUrl(url).then(
      () => null,
      (cause: unknown) => cause as Error,
    );
    expect(error).toMatchObject({ code: "OPTION_INVALID", message: expect.stringMatching(says) });
    for (let one: unknown = error; one instanceof Error; one = one.cause) expect(one.stack).not.toMatch(/s3|cret/);
  });

  it("does not shout at a server that is away, and ends its client", async () => {
    for (const url of [
      "postgres://ada:s3cret@127.0.0.1:1/app",
      "mysql://ada:s3cret@127.0.0.1:1/app",
      "libsql:http://127.0.0.1:1",
      "redis://:s3cret@127.0.0.1:1",
    ]) {
      const store = await storeFromUrl(url);
      await expect(store.load("order-1")).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
        message: expect.not.stringContaining("s3cret"),
      });
      await store.close();
    }
    // `close` does not wait for a server that was never reached
    const site = await siteFromUrl("redis://:s3cret@127.0.0.1:1");
    await site.close();
  });

  it("ends a client of node-redis that cannot connect", async () => {
    await expect(openNodeRedis(await import("redis"), "redis://:s3cret@127.0.0.1:1")).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.not.stringContaining("s3cret"),
    });
  });
});

describe("a site", () => {
  it("ends its client once, however often it is closed", async () => {
    const site = await siteFromUrl("postgres://127.0.0.1:1/app");
    await site.close();
    await site.close();
  });

  it("drops nothing whose name is none", async () => {
    for (const url of [
      "postgres://127.0.0.1:1/app",
      "mysql://127.0.0.1:1/app",
      "upstash:http://127.0.0.1:1?token=t",
      "redis://127.0.0.1:1",
    ]) {
      const site = await siteFromUrl(url);
      await expect(site.drop('x" CASCADE; *')).rejects.toMatchObject({ code: expect.any(String) });
      await site.close();
    }
  });
});
