export type { FetchHandler } from "../http/fetch-handler.ts";
export { type AnswerLink, type AnswerLinkOptions, type AnswerLinks, type AnswerLinksOptions, answerLinks } from "./answer-links.ts";
export type { LinkKey } from "./link-token.ts";
export { type WebhookAction, type WebhookEvent, type WebhookOptions, webhook } from "./webhook.ts";
