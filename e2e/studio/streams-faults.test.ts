import { randomBytes } from "node:crypto";
import pg from "pg";
import type { Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { startProxy, type TcpProxy } from "../kill9/proxy.ts";
import { maxMs, waitUntil } from "./browser.ts";
import { framesRead, versionsOf } from "./streams/page-reads.ts";
import { startStreamProxy } from "./streams/stream-proxy.ts";
import { newPerson, type StreamedSite } from "./streams/streamed-site.ts";
import { finish, lastShown, moves, node, openPage, startSite, upTo, watch } from "./streams/watched-site.ts";

const kinds = ["sqlite", "postgres"] as const;
const endless = { ms: 30, most: 100_000 };

/** Ends a loop, and expects that a watcher and a page have got every event of it once. */
async function expectAll(site: StreamedSite, id: string, watcher: ReturnType<typeof watch>, page: Page): Promise<void> {
  const { last } = await finish(site, id);
  await waitUntil(() => watcher.last === last, "the client has all");
  expect(watcher.versions).toEqual(upTo(last));
  await waitUntil(async () => (await lastShown(page)) === last, "the page shows all");
  expect(versionsOf(await framesRead(page))).toEqual(upTo(last));
}

/** Connects to the database itself, until the end of the test. */
async function connectToDatabase(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

describe("streams", () => {
  it("go on when the database cuts the connections of the server", async () => {
    const name = `serving_${randomBytes(6).toString("hex")}`;
    let url = "";
    const servedFrom = (own: string): string => {
      url = own;
      return `${own}&application_name=${name}`;
    };
    const site = await startSite({ kind: "postgres", servedFrom });
    if (!site) return;
    await site.runtime.start("ticking", { workflowId: "loop", input: endless });
    const { page } = await openPage(site, "loop");
    const watcher = watch(site, "loop");
    const plain = new URL(url);
    plain.search = "";
    const database = await connectToDatabase(plain.href);
    for (let times = 0; times < 5; times++) {
      await moves(watcher, 15, page);
      const { rows } = await database.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", [name]);
      expect(rows.length).toBeGreaterThan(0);
    }
    await moves(watcher, 15, page);
    await expectAll(site, "loop", watcher, page);
    expect(watcher.connections).toBe(1);
  });

  it.each(["collect", "cut"] as const)("come through a proxy that does this to them: %s", async (treatment) => {
    const site = (await startSite({ kind: "sqlite" }))!;
    const proxy = await startStreamProxy(site.serving.url, treatment);
    onTestFinished(() => proxy.close());
    // so slow that it can be followed, although after each cut there is a pause
    await site.runtime.start("ticking", { workflowId: "loop", input: { ...endless, ms: 200 } });
    const { page } = await openPage(site, "loop", proxy.url);
    const watcher = watch(site, "loop", site.people[0], proxy.url);
    await moves(watcher, 40, page);
    await expectAll(site, "loop", watcher, page);
    if (treatment === "cut") expect(proxy.cuts()).toBeGreaterThan(4);
    else expect(watcher.connections).toBe(1);
  });

  it("go on after the connections of the server to the database were dead for a while, without an error", async () => {
    let proxy!: TcpProxy;
    const servedFrom = async (url: string): Promise<string> => {
      proxy = await startProxy(url);
      return proxy.url;
    };
    const site = await startSite({ kind: "postgres", servedFrom });
    if (!site) return;
    onTestFinished(() => proxy.close());
    await site.runtime.start("ticking", { workflowId: "loop", input: endless });
    const watcher = watch(site, "loop");
    await moves(watcher, 20);
    proxy.set("swallow");
    await waitUntil(() => watcher.problems.length > 0, "the client is told");
    proxy.set("through");
    await moves(watcher, 20);
    const { last } = await finish(site, "loop");
    await waitUntil(() => watcher.last === last, "the client has all");
    expect(watcher.versions).toEqual(upTo(last));
    expect([new Set(watcher.problems), watcher.connections]).toEqual([new Set(["STORE_UNAVAILABLE"]), 1]);
  });

  it("say that the store is away, keep what is shown, and go on when it is back", async () => {
    let proxy!: TcpProxy;
    const servedFrom = async (url: string): Promise<string> => {
      proxy = await startProxy(url);
      return proxy.url;
    };
    const site = await startSite({ kind: "postgres", servedFrom });
    if (!site) return;
    onTestFinished(() => proxy.close());
    const run = await site.runtime.start("asking", { workflowId: "order-7", input: { order: 7 } });
    await run.waitFor("paused");
    const { browser, page } = await openPage(site, "order-7");
    const list = await browser.open(`${site.serving.url}/executions#t=${site.people[0]!.token}`);
    await list.getByRole("link", { name: "order-7" }).waitFor();
    const watcher = watch(site, "order-7");
    await moves(watcher, 2, page);
    await node(page, "ask").getByText("paused").waitFor();
    proxy.set("reset");
    await waitUntil(() => watcher.problems.length > 0, "the client is told");
    expect(new Set(watcher.problems)).toEqual(new Set(["STORE_UNAVAILABLE"]));
    const banner = page.getByText("STORE_UNAVAILABLE");
    await banner.waitFor();
    const listBanner = list.getByText("STORE_UNAVAILABLE");
    await listBanner.waitFor();
    // what is shown stays
    await node(page, "ask").getByText("paused").waitFor();
    await page.getByText("waits for an answer").first().waitFor();
    await list.getByRole("link", { name: "order-7" }).waitFor();
    // nothing has happened meanwhile, and yet the page is told that the store is back
    proxy.set("through");
    await banner.waitFor({ state: "hidden" });
    await listBanner.waitFor({ state: "hidden" });
    await run.resume({ payload: { approved: true } });
    await page.getByText("Completed.").waitFor();
    const { version: last } = await run.snapshot();
    await waitUntil(() => watcher.last === last, "the client has all");
    expect(watcher.versions).toEqual(upTo(last));
    expect(versionsOf(await framesRead(page))).toEqual(upTo(last));
    expect(watcher.connections).toBe(1);
  });
});

describe.each(kinds)("a page that is looked at, over %s", (kind) => {
  it("says that its execution was deleted, and keeps its last state", async () => {
    const site = await startSite({ kind });
    if (!site) return;
    const run = await site.runtime.start("ticking", { workflowId: "short", input: { ms: 1, most: 5 } });
    await run.result();
    const { page } = await openPage(site, "short");
    const watcher = watch(site, "short");
    await page.getByText("Completed.").waitFor();
    const { version: last } = await run.snapshot();
    await waitUntil(() => watcher.last === last, "the client has all");
    await waitUntil(async () => (await lastShown(page)) === last, "the page shows all");
    await site.store.delete("short");
    await page.getByText("Deleted.").waitFor();
    await node(page, "tick").waitFor();
    await page.getByText("5 ticks").first().waitFor();
    expect(await page.getByText("Offline.").isVisible()).toBe(false);
    await watcher.ended;
    expect(watcher.others.at(-1)).toMatchObject({ type: "end", execution: "short", reason: "gone" });
  });

  it("goes on with its execution when it is restarted, and shows the restart", async () => {
    const site = await startSite({ kind });
    if (!site) return;
    const run = await site.runtime.start("fragile", { workflowId: "parcel", input: { order: 7 } });
    await run.settled();
    const { page } = await openPage(site, "parcel");
    const watcher = watch(site, "parcel");
    await node(page, "carry").getByText("failed").waitFor();
    site.driving.order({ isMended: true });
    await run.restart();
    await page.getByText("Completed.").waitFor();
    await node(page, "carry").getByText("completed").waitFor();
    const { version: last } = await run.snapshot();
    await waitUntil(() => watcher.last === last, "the client has all");
    expect(watcher.versions).toEqual(upTo(last));
    expect(versionsOf(await framesRead(page))).toEqual(upTo(last));
    await page.getByText("Restarted once.").waitFor();
    await page.getByRole("tab", { name: /^Events/ }).click();
    await page
      .getByText(/restarted/i)
      .first()
      .waitFor();
  });
});

it("a page whose token ends asks for another one over what it shows, and loses nothing", async () => {
  const ends = newPerson("ada", Date.now() + 20_000);
  const stays = newPerson("ada");
  const site = (await startSite({ kind: "sqlite", people: [ends, stays] }))!;
  await site.runtime.start("ticking", { workflowId: "loop", input: endless });
  const { page } = await openPage(site, "loop");
  const watcher = watch(site, "loop", stays);
  await moves(watcher, 20, page);
  const dialog = page.getByRole("dialog", { name: "Sign in again" });
  await dialog.waitFor({ timeout: 3 * maxMs });
  // behind the dialog everything is still there
  const before = await lastShown(page);
  expect(before).toBeGreaterThan(20);
  expect(await node(page, "tick").count()).toBe(1);
  await moves(watcher, 20);
  await dialog.getByLabel("Token").fill(stays.token);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await dialog.waitFor({ state: "hidden" });
  await moves(watcher, 20, page);
  await expectAll(site, "loop", watcher, page);
});
