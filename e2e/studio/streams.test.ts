import { describe, expect, it, onTestFinished } from "vitest";
import { startProxy } from "../kill9/proxy.ts";
import { waitUntil } from "./browser.ts";
import { framesRead, versionsOf } from "./streams/page-reads.ts";
import { lostAndDoubled } from "./streams/stream-watcher.ts";
import { newPerson } from "./streams/streamed-site.ts";
import { finish, lastShown, moves, node, openPage, startSite, upTo, watch } from "./streams/watched-site.ts";

const kinds = ["sqlite", "postgres"] as const;

describe.each(kinds)("streams over %s", (kind) => {
  it("lose and double nothing in a page and in a client while the server is killed five times, and the driving process twice", async () => {
    const site = await startSite({ kind });
    if (!site) return;
    await site.runtime.start("ticking", { workflowId: "loop", input: { ms: 30, most: 100_000 } });
    const { page } = await openPage(site, "loop");
    const watcher = watch(site, "loop");
    const offline = page.getByText("Offline.");
    await moves(watcher, 20, page);
    // the definition has come too: it would come only from a server that lives
    await node(page, "tick").waitFor();
    for (const victim of ["server", "driver", "server", "server", "driver", "server", "server"] as const) {
      if (victim === "driver") {
        await site.driving.kill();
        await site.driving.start();
      } else {
        await site.serving.kill();
        await offline.waitFor();
        // what is shown stays
        await node(page, "tick").waitFor();
        await page.getByRole("heading", { name: "loop", level: 1 }).waitFor();
        await site.serving.start();
      }
      await moves(watcher, 20, page);
      await offline.waitFor({ state: "hidden" });
    }
    const { last, commits } = await finish(site, "loop");
    expect(last).toBeGreaterThan(150);
    await waitUntil(() => watcher.last === last, "the client has all");
    expect(watcher.versions).toEqual(upTo(last));
    expect(watcher.connections).toBe(6);
    await page.getByText("Completed.").waitFor();
    expect(versionsOf(await framesRead(page))).toEqual(upTo(last));
    expect(await lastShown(page)).toBe(last);
    await page.getByRole("tab", { name: /^Events/ }).click();
    await page.getByText(`${(last + 1).toLocaleString("en")} events`, { exact: true }).waitFor();
    expect(site.serving.reads).toBeLessThanOrEqual(commits);
  });

  it("cost one read in twenty commits if the driving process tells its events, although both are killed", async () => {
    const site = await startSite({ kind, isTold: true });
    if (!site) return;
    await site.runtime.start("ticking", { workflowId: "loop", input: { ms: 15, most: 100_000 } });
    const watcher = watch(site, "loop");
    for (const victim of ["server", "driver", "server", "server", "driver", "server", "server"] as const) {
      await moves(watcher, 60);
      const process = victim === "driver" ? site.driving : site.serving;
      await process.kill();
      await process.start();
    }
    await moves(watcher, 60);
    const { last, commits } = await finish(site, "loop");
    await waitUntil(() => watcher.last === last, "the client has all");
    expect(watcher.versions).toEqual(upTo(last));
    expect(commits).toBeGreaterThan(400);
    expect(site.serving.reads).toBeLessThanOrEqual(commits / 20);
  });

  it.each([
    { how: "that are found in the store", isTold: false, share: 1 },
    { how: "that are told", isTold: true, share: 0.05 },
  ])("bring 500 watchers events $how, over two reconnections each, and each once", async ({ isTold, share }) => {
    const people = Array.from({ length: 10 }, (_, index) => newPerson(`person-${index}`));
    const site = await startSite({ kind, isTold, people });
    if (!site) return;
    const proxy = await startProxy(site.serving.url);
    onTestFinished(() => proxy.close());
    await site.runtime.start("ticking", { workflowId: "loop", input: { ms: 100, most: 100_000 } });
    const watchers = people.flatMap((person) =>
      Array.from({ length: 50 }, () => watch(site, "loop", person, proxy.url.replace(/\/$/, ""))),
    );
    const allHave = (connections: number): Promise<void> => {
      const to = Math.max(...watchers.map(({ last }) => last)) + 15;
      return waitUntil(
        () => watchers.every((watcher) => watcher.connections >= connections && watcher.last >= to),
        `all have version ${to} over connection ${connections}`,
        // 5,000 events a second come to this process, which has all the clients
        60_000,
      );
    };
    await allHave(1);
    proxy.set("reset");
    proxy.set("through");
    await allHave(2);
    await site.serving.kill();
    await site.serving.start();
    await allHave(3);
    // each start of the server costs some reads, which are few beside those that are saved
    if (isTold) await waitUntil(() => watchers[0]!.last > 160, "there were many events");
    const { last, commits } = await finish(site, "loop");
    await waitUntil(() => watchers.every((watcher) => watcher.last === last), "all have all");
    const sum = { lost: 0, doubled: 0 };
    for (const { versions } of watchers) {
      const { lost, doubled } = lostAndDoubled(versions, last);
      sum.lost += lost;
      sum.doubled += doubled;
    }
    expect(sum).toEqual({ lost: 0, doubled: 0 });
    expect(site.serving.reads).toBeLessThanOrEqual(commits * share);
  });
});
