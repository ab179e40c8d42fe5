export { queueFromUrl } from "./queue-from-url.ts";
