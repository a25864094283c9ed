/** What the build writes into the sources, and what a page may set. */
declare const BUILT_FILES: Record<string, string>;
declare const BUILT_LANGUAGES: string[];
declare const BUILT_ACTS: string;
declare const BUILT_ADDRESS: string;
declare const BUILT_BASE: string;
declare const BUILT_CHANGES: string;
declare const BUILT_CHOICES: string;
declare const BUILT_COMPLETION: string;
declare const BUILT_FLAG: string;
declare const BUILT_GUESTS: string;
declare const BUILT_INBOX: string;
declare const BUILT_LETTERS: string;
declare const BUILT_MARKS: string;
declare const BUILT_PERSON: string;
declare const BUILT_PROVIDERS: string;
declare const BUILT_PUSH: string;
declare const BUILT_SCHEME: string;
declare const BUILT_TOPICS: string;
declare const BUILT_WRITING: string;
declare const BUILT_VISIT: string;
/** Of a service worker alone. */
declare function importScripts(url: string): void;
declare module "*.css" {
  const css: string;
  export default css;
}
interface Window {
  plaza?: { token?: () => string | null | Promise<string | null>; api?: string; words?: Record<string, string> };
  trustedTypes?: { createPolicy(name: string, rules: { createHTML(text: string): string }): { createHTML(text: string): any } };
}
