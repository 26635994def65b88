/** `signalbox agents`: who is at work here. */

import type { Config } from "../../config/config.ts"
import { ASKS, admit } from "../../operations/admission.ts"
import { commandCall } from "../../operations/caller.ts"
import { allProjects, listColleagues } from "../../operations/coordination/colleagues.ts"
import { projectsAround } from "../../operations/coordination/correspondence.ts"
import { findOwnAgents } from "../../operations/coordination/identity.ts"
import { repositoryAround } from "../../operations/coordination/locations.ts"
import { permittedProjects } from "../../operations/coordination/mailbox.ts"
import { lines } from "../../operations/markdown.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { terminalColumns } from "../columns.ts"
import { bold, dim, type OutputOptions, printResult } from "../output.ts"
import { withApp } from "../with-app.ts"
import { terminalOf } from "./identity.ts"
import { colleagueJson, colleagueText, placesText } from "./mail-text.ts"

export interface AgentsOptions extends OutputOptions {
  /** Those that are gone as well. */
  all?: boolean
}

/**
 * Lists the agents of the projects around the folder, outside of any those of the whole machine; the active first.
 * Fails with `not_found` for a configured project that is not there.
 */
export function agentsCommand(config: Config, options: AgentsOptions): Promise<void> {
  return withApp(config, async (app) => {
    const context = await admit(commandCall(app), ASKS.toolCall)
    const terminal = terminalOf(app)
    const repository = await repositoryAround(app, config.workingFolder)
    const around = (await projectsAround(app, terminal, repository)) ?? (await allProjects(app))
    const projects = await permittedProjects(context, around)
    const own = await findOwnAgents(app, terminal, repository)
    const ownIds = new Set(own.map(({ id }) => id))
    const includesGone = options.all === true
    const colleagues = await listColleagues(app, projects, { includesGone })
    const { nowMs } = context
    printResult(
      options,
      colleagues.map((one) => colleagueJson(one, ownIds, nowMs)),
      () => {
        const atWork = colleagues.filter(({ presence }) => presence !== "gone").length
        const where = projects.length === 0 ? "here" : `in ${placesText(projects)}`
        const gone = colleagues.length - atWork
        const present = atWork === 0 ? `Nobody is at work ${where}` : `${atWork} at work ${where}`
        const head = bold(gone === 0 ? present : `${present}, ${gone} gone`)
        const listing = { ownIds, isWide: projects.length > 1, nowMs, columns: terminalColumns() }
        const others = colleagues.filter(({ agent }) => !ownIds.has(agent.id))
        const [first] = others
        return lines(
          head,
          ...colleagues.map((one) => `\n${colleagueText(one, listing)}`),
          first === undefined && !includesGone
            ? dim(`\nThose who were here: ${ownCommand()} agents --all`)
            : null,
          first === undefined
            ? null
            : dim(
                `\nWrite to one: ${ownCommand()} send ${first.agent.name} "..."${others.length > 1 ? ", or to all" : ""}`,
              ),
        )
      },
    )
  })
}
