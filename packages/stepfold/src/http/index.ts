export { type BodyBounds, type BodyRefusal, parsedJson, readRequestBody, statusOfRefusal } from "./request-body.ts";
