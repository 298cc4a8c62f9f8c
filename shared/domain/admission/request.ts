/** The user who sent the request, as the API server authenticated it. */
export interface Requester {
  readonly name: string;
  readonly groups: readonly string[];
  /** The node of the pod that a service account token is bound to. */
  readonly nodeName?: string | undefined;
}

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** The fields of an admission request, without its objects. */
export interface AdmissionRequest {
  /** New for every call, even a repeated one: it only matches an answer to a call. */
  readonly uid: string;
  readonly operation: Operation;
  readonly group: string;
  readonly resource: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly namespace: string;
  /** Empty with generateName before the name is generated, and for the deletion of a collection. */
  readonly name: string;
  readonly requester: Requester;
  readonly isDryRun: boolean;
}
