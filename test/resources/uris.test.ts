import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { type Session, send, world } from "../support/world.ts"

const SCHEME = "signalbox://coordination"
const STATIC = [`${SCHEME}/tools`]
const TEMPLATES = [
  `${SCHEME}/inbox/{agent}{?project_key,limit}`,
  `${SCHEME}/outbox/{agent}{?project_key,limit}`,
  `${SCHEME}/thread/{thread_id}{?project_key}`,
  `${SCHEME}/message/{id}{?project_key}`,
  `${SCHEME}/file-reservations{?project_key,repository_id,agent}`,
  `${SCHEME}/agents{?project_key,active_only}`,
  `${SCHEME}/contacts{?project_key,agent,status}`,
  `${SCHEME}/views/urgent-unread{?project_key,agent}`,
  `${SCHEME}/views/ack-required{?project_key,agent}`,
  `${SCHEME}/views/ack-overdue{?project_key,agent}`,
]
/** Every resource that belongs to a project, with what its path needs. */
const PATHS = [
  "inbox/Ada",
  "outbox/Ada",
  "thread/plan",
  "message/1",
  "file-reservations",
  "agents",
  "contacts",
  "views/urgent-unread",
  "views/ack-required",
  "views/ack-overdue",
]

async function demo(): Promise<Session> {
  const session = await world().session()
  const ada = await session.register("Ada")
  await send(ada, [await session.register("Bob")], { thread_id: "plan" })
  return session
}

const readUri = (session: Session, uri: string) => session.client.readResource({ uri })
const rejection = (session: Session, uri: string) =>
  readUri(session, uri).then(
    () => expect.unreachable(`${uri} was read`),
    (error: { code: number; message: string }) => error,
  )

describe("the list of resources", () => {
  test("has the one without parameters, and a template with the parameters of each other", async () => {
    const { client } = await world().session()
    const { resources } = await client.listResources()
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resources.map((resource) => resource.uri)).toEqual(STATIC)
    expect(resourceTemplates.map((resource) => resource.uriTemplate).sort()).toEqual([...TEMPLATES].sort())
    const all = [...resources, ...resourceTemplates]
    expect(new Set(all.map((resource) => resource.name)).size).toBe(11)
    for (const resource of all) {
      expect(resource.mimeType).toBe("application/json")
      expect(resource.title).toBeTruthy()
      expect(resource.description).toBeTruthy()
    }
  })

  test("comes without a key", async () => {
    const session = await world().session({ apiKey: "" })
    expect((await session.client.listResources()).resources).toHaveLength(1)
    expect((await session.client.listResourceTemplates()).resourceTemplates).toHaveLength(10)
  })
})

describe("a resource", () => {
  test("is JSON under the address that was asked for", async () => {
    const session = await demo()
    const uri = `${SCHEME}/agents?project_key=demo`
    const { contents } = await readUri(session, uri)
    expect(contents).toHaveLength(1)
    expect(contents[0]).toMatchObject({ uri, mimeType: "application/json" })
    expect(JSON.parse((contents[0] as { text: string }).text)).toMatchObject({ project_key: "demo" })
  })

  test.each(["/srv/code/my project", "a+b=c&d?e#f%20", "プロジェクト 日本", 'quote"s and {braces}'])(
    "is read with the percent-encoded project key %j",
    async (key) => {
      const session = await world().session()
      await session.register("Ada", { project_key: key })
      expect(await session.read("agents", { project_key: key })).toMatchObject({
        project_key: key,
        total_agents: 1,
      })
    },
  )

  test("takes a plus sign and an unencoded slash as they are", async () => {
    const session = await world().session()
    await session.register("Ada", { project_key: "a+b/c" })
    const { contents } = await readUri(session, `${SCHEME}/agents?project_key=a+b/c`)
    expect((contents[0] as { text: string }).text).toContain('"project_key":"a+b/c"')
  })

  test("takes the path of the repository, a symbolic link to it too, as its project's key", async () => {
    const made = world()
    const session = await made.session()
    await session.register("Ada", { project_key: made.repositoryPath })
    const key = join(made.folder, "alias")
    symlinkSync(made.repositoryPath, key)
    expect(await session.read("agents", { project_key: key })).toMatchObject({
      project_key: made.repositoryPath,
    })
  })

  test("takes percent-encoded names in its path, in any case", async () => {
    const session = await demo()
    expect(await session.read("inbox/%41da", { project_key: "demo" })).toMatchObject({
      agent: { name: "Ada" },
    })
    expect(await session.read("inbox/ADA", { project_key: "demo" })).toMatchObject({ agent: { name: "Ada" } })
  })

  test("is not affected by the order of its parameters, nor by empty ones between", async () => {
    const session = await demo()
    await readUri(session, `${SCHEME}/inbox/Ada?limit=5&&project_key=demo&`)
  })
})

describe("a resource that cannot be read", () => {
  test.each(PATHS)("%s asks for its project_key", async (path) => {
    const { code, message } = await rejection(await demo(), `${SCHEME}/${path}`)
    expect(code).toBe(-32602)
    expect(message).toContain("Failed to read resource: ")
    expect(message).toContain("project_key is required")
    expect(message).toContain(`The form is ${SCHEME}/`)
  })

  test.each(PATHS)("%s names a project that is not found, and the tools that create one", async (path) => {
    const query = path === "contacts" ? "?project_key=nothing&agent=Ada" : "?project_key=nothing"
    const { code, message } = await rejection(await demo(), `${SCHEME}/${path}${query}`)
    expect(code).toBe(-32602)
    expect(message).toContain('project "nothing" was not found')
    expect(message).toMatch(/register-agent.*macro-start-session/)
  })

  test.each(PATHS)("%s refuses a parameter that it does not know", async (path) => {
    const { code, message } = await rejection(await demo(), `${SCHEME}/${path}?project_key=demo&colour=red`)
    expect(code).toBe(-32602)
    expect(message).toContain('unknown parameter "colour"')
  })

  test.each([
    ["inbox/Nobody", 'agent "Nobody" was not found in project "demo"'],
    ["outbox/Nobody", 'agent "Nobody" was not found in project "demo"'],
    ["inbox/Signalbo", 'agent "Signalbo" was not found in project "demo"'],
    ["thread/nothing", 'thread "nothing" was not found in project "demo"'],
    ["message/99", 'message 99 was not found in project "demo"'],
    ["inbox/", "agent must have at least 1 character"],
    ["thread/a%20b", "thread_id may contain only"],
  ])("%s says why", async (path, text) => {
    const { code, message } = await rejection(await demo(), `${SCHEME}/${path}?project_key=demo`)
    expect(code).toBe(-32602)
    expect(message).toContain(text)
  })

  test.each([
    [`${SCHEME}/nothing`],
    [`${SCHEME}`],
    [`${SCHEME}/inbox/Ada/more?project_key=demo`],
    [`${SCHEME}/inbox?project_key=demo`],
    ["signalbox://memory/tools"],
    ["http://coordination/tools"],
    ["coordination/tools"],
  ])("%s does not exist", async (uri) => {
    const { code, message } = await rejection(await demo(), uri)
    expect(code).toBe(-32602)
    expect(message).toContain("does not exist")
    expect(message).toContain(`${SCHEME}/tools`)
  })

  test.each([
    `${SCHEME}/agents?project_key=%zz`,
    `${SCHEME}/inbox/%E0%A4%A?project_key=demo`,
    `${SCHEME}/agents?%=1`,
  ])("%s is not valid percent-encoding", async (uri) => {
    const { code, message } = await rejection(await demo(), uri)
    expect(code).toBe(-32602)
    expect(message).toContain("is not valid percent-encoding")
  })
})
