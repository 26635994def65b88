/** What the hook is asked, by whichever of its forms. */

/** A call of the hook, as it was started. What is not known is left out or undefined. */
export interface HookRequest {
  client: string
  event: string
  /** What the client wrote on stdin, as it came. */
  payload: string
  /** The folder that the hook was started in. */
  folder?: string | undefined
  /** The folder of the project, where the client tells it in the environment. */
  projectFolder?: string | undefined
  parentPid?: number | undefined
  /** SIGNALBOX_SESSION of the hook's environment, which wins over what the client says, as it does for servers. */
  namedSession?: string | undefined
  /** The session's id, where the environment tells it: for callers whose payload does not. */
  sessionId?: string | undefined
  /** The client whose variable told that id. */
  sessionClient?: string | undefined
  /** SIGNALBOX_AGENT and SIGNALBOX_PROJECT of the hook's environment. */
  agentName?: string | undefined
  projectKey?: string | undefined
}
