import { Buffer } from 'node:buffer';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';

/** Turns a stored object into the version a client asked for; Events have two, all other kinds one. */
export interface View {
  readonly apiVersion: string;
  readonly convert: ((object: KubeObject) => KubeObject) | undefined;
}

/** One stored state of one object. Its JSON is encoded once for all gets, lists and watches. */
export class Revision {
  readonly object: KubeObject;
  readonly number: number;
  /** `namespace/name`, or `name` if the kind has no namespaces. */
  readonly key: string;
  #json: Buffer | undefined;
  #converted: Buffer | undefined;

  constructor(key: string, object: KubeObject, number: number) {
    this.key = key;
    this.object = object;
    this.number = number;
  }

  /** The object in a view. */
  objectIn(view: View): KubeObject {
    return view.convert === undefined ? this.object : view.convert(this.object);
  }

  /** The object's JSON in a view. */
  jsonIn(view: View): Buffer {
    if (view.convert === undefined) return (this.#json ??= Buffer.from(JSON.stringify(this.object)));
    return (this.#converted ??= Buffer.from(JSON.stringify(view.convert(this.object))));
  }
}

/** `namespace/name`, or `name`. */
export function keyOf(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}
