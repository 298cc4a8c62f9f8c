/** What a page of the dashboard gets and returns. */
import type { nothing, TemplateResult } from 'lit-html';
import type { Update } from '#dashboard/viewer-update.ts';
import type { NodeSummary, TimelineEntry, View } from '#dashboard/views/view.ts';

/** What a template shows. */
export type Shown = TemplateResult | typeof nothing | string;

/** Data of the server besides nodes, as last sent. */
export interface Sections extends Omit<View, 'at' | 'nodes'> {
  readonly nodeTimeline: readonly TimelineEntry[];
}

/** By name; the value of the address, or what it becomes. An empty value removes the parameter. */
export type SetParams = (changes: Readonly<Record<string, string>>) => void;

/** What a page is drawn from. */
export interface Context extends Sections {
  readonly nodes: ReadonlyMap<string, NodeSummary>;
  /** The server's time, in milliseconds since 1970. */
  readonly now: number;
  readonly params: URLSearchParams;
  readonly setParams: SetParams;
}

/** An update as the browser gets it. */
export type Received = Update & { readonly cluster?: string };

/** One page while it is open. */
export interface Page {
  readonly title: string;
  /** Whether it draws its own `h1`. */
  readonly hasHeading?: boolean;
  /** The node whose details the server sends. */
  readonly node?: string;
  readonly render: (context: Context) => Shown;
  readonly take?: (update: Received, isFirst: boolean) => void;
  /** After each drawing. */
  readonly drawn?: () => void;
  readonly close?: () => void;
}

/** `redraw` draws soon again. */
export interface PageOptions {
  /** The part of the address after the page; a pod has `namespace/name`. */
  readonly name: string;
  readonly redraw: () => void;
}
