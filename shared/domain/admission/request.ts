/** Who asks, as the API server authenticated them. */
export interface Requester {
  readonly name: string;
  readonly groups: readonly string[];
  /** The node of the pod that the token of a service account is bound to. */
  readonly nodeName?: string | undefined;
}

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** What every admission request says about itself, whatever its object. */
export interface AdmissionRequest {
  /** New for every call, also for a repeated one: it identifies an answer and nothing else. */
  readonly uid: string;
  readonly operation: Operation;
  readonly group: string;
  readonly resource: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly namespace: string;
  /** Empty with generateName before the name is chosen, and in a deletion of a whole collection. */
  readonly name: string;
  readonly requester: Requester;
  readonly isDryRun: boolean;
}
