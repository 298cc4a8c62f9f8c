/** What the pages of the dashboard use of other projects; `page-library.ts` bundles it (docs/contributing/decisions/libraries.md). */
export { html, nothing, render, svg } from 'lit-html';
export { live } from 'lit-html/directives/live.js';
export { ref } from 'lit-html/directives/ref.js';
export { repeat } from 'lit-html/directives/repeat.js';
export { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
export { default as Plot } from 'uplot';
