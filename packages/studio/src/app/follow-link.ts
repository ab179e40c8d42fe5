import type { MouseEvent } from "react";

/**
 * Handles a click anywhere in the page: a plain click on a link to another page of the app changes the address without a reload. Everything
 * else is left to the browser: other keys and buttons, other origins, downloads, other windows.
 *
 * @param isPage whether a path is one of the app
 */
export function followLink(event: MouseEvent, navigate: (to: string) => void, isPage: (path: string) => boolean): void {
  const { defaultPrevented, button, metaKey, ctrlKey, shiftKey, altKey, target } = event;
  if (defaultPrevented || button !== 0 || metaKey || ctrlKey || shiftKey || altKey) return;
  const link = (target as Element).closest<HTMLAnchorElement>("a[href]");
  if (!link || link.origin !== location.origin || link.hasAttribute("download") || !["", "_self"].includes(link.target)) return;
  if (!isPage(link.pathname)) return;
  event.preventDefault();
  navigate(link.pathname + link.search);
}
