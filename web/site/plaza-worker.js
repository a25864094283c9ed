// @ts-check
// The paper's service worker: it shows what Plaza pushes, and nothing else.
importScripts("/web/v1/worker.js");
