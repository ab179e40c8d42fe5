import type { Locator, Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { newFolder } from "../../cli.ts";
import { startBrowser, type TestBrowser, waitUntil } from "../browser.ts";
import { keepPageReads } from "./page-reads.ts";
import { StreamWatcher } from "./stream-watcher.ts";
import { openSite, type SiteOptions, type StreamedSite } from "./streamed-site.ts";

/** Opens a site until the end of the test, with both processes running; null if the database does not answer. */
export async function startSite(options: Omit<SiteOptions, "folder">): Promise<StreamedSite | null> {
  const site = await openSite({ ...options, folder: newFolder() });
  if (!site) return null;
  onTestFinished(() => site.close());
  await Promise.all([site.serving.start(), site.driving.start()]);
  return site;
}

/** Watches an execution until the end of the test. */
export function watch(site: StreamedSite, id: string, person = site.people[0]!, url?: string): StreamWatcher {
  const watcher = new StreamWatcher(site.client(person, url), id);
  onTestFinished(() => watcher.stop());
  return watcher;
}

/** Opens the page of an execution in a browser of its own, which keeps what the page reads. */
export async function openPage(
  site: StreamedSite,
  id: string,
  url: string = site.serving.url,
): Promise<{ readonly browser: TestBrowser; readonly page: Page }> {
  const browser = await startBrowser();
  await keepPageReads(browser.context);
  const page = await browser.open(`${url}/executions/${id}#t=${site.people[0]!.token}`);
  await page.getByRole("heading", { name: id, level: 1 }).waitFor();
  return { browser, page };
}

/** The card of a node in the graph. */
export function node(page: Page, name: string): Locator {
  return page
    .getByRole("application", { includeHidden: true })
    .getByRole("button", { name: new RegExp(`\\b${name}\\b`), includeHidden: true });
}

/** The last version that a page shows; -1: none. */
export async function lastShown(page: Page): Promise<number> {
  const text = await page.getByRole("slider", { name: "Version" }).getAttribute("aria-valuetext");
  return Number(/of (-?\d+)$/.exec(text ?? "")?.[1] ?? -1);
}

/** Waits until a watcher, and a page, have got that many more events. */
export async function moves(watcher: StreamWatcher, by: number, page?: Page): Promise<void> {
  const to = watcher.last + by;
  await waitUntil(() => watcher.last >= to, `the client gets version ${to}`);
  if (page) await waitUntil(async () => (await lastShown(page)) >= to, `the page shows version ${to}`);
}

/** Ends a loop. Returns the last version of its history, and the number of commits. */
export async function finish(site: StreamedSite, id: string): Promise<{ readonly last: number; readonly commits: number }> {
  site.driving.order({ isFinishing: true });
  const run = await site.runtime.get(id);
  await run.result();
  const { version: last } = await run.snapshot();
  const commits = new Set<string>();
  for (let after = -1; after < last; after += 500)
    for (const { commitId } of await site.store.events(id, after, 500)) commits.add(commitId);
  return { last, commits: commits.size };
}

/** 0 to the last version. */
export function upTo(last: number): number[] {
  return Array.from({ length: last + 1 }, (_, version) => version);
}
