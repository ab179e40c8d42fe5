import { findChromium, installChromium } from "../../scripts/servers/chromium.ts";

/** Makes sure that there is a browser, before any test of a page runs. */
export function setup(): void {
  if (findChromium() === undefined) console.log(installChromium());
  if (findChromium() === undefined)
    throw new Error("No Chromium: install it (apt-get install chromium as root), or set CHROMIUM to the path of one");
}
