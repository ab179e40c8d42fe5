import { SafeStorage } from "./safe-storage.ts";

/** What is kept for this tab, and no longer than it is open. */
export const tabStorage: SafeStorage = new SafeStorage(() => sessionStorage);
