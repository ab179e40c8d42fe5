export { schedules } from "./schedules.ts";
