//! Runs the calls of a request, one after the other (RFC 8620, sections 3.3 to 3.7 and 4).
//!
//! Input: a request, and what answers calls. Output: the response. Does not know what methods do.

use crate::arguments::Arguments;
use crate::context::Context;
use crate::created::CreatedIds;
use crate::error::{MethodError, MethodErrorKind};
use crate::i_json;
use crate::limits::{CORE, Limits};
use crate::memory::Room;
use crate::reference::{self, Budget};
use crate::request::{Invocation, Request};
use serde_json::{Map, Value};

/// The method that this crate answers itself (RFC 8620, section 4).
const ECHO: &str = "Core/echo";

/// What a server does.
pub trait Methods {
    /// Returns the capability that the method `name` belongs to, or `None` if there is no such method.
    fn capability(&self, name: &str) -> Option<&str>;

    /// Answers a call of a method that [`capability`](Methods::capability) knows. Its first response is the
    /// method's own. Calls that it makes by itself, such as an `Email/set` after a submission, give further
    /// ones.
    ///
    /// # Errors
    /// Why the call is refused.
    fn call(
        &mut self,
        name: &str,
        arguments: Arguments,
        context: &mut Context<'_>,
    ) -> Result<Vec<Answer>, MethodError>;

    /// Returns the state of the session, after all calls (RFC 8620, section 3.4).
    fn session_state(&self) -> String;
}

/// A response without its call id, which is that of the call.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    name: String,
    arguments: Map<String, Value>,
}

impl Answer {
    /// Returns the response to the method `name`, whose arguments a response such as
    /// [`GetResponse`](crate::GetResponse) makes.
    pub fn new(name: &str, arguments: Map<String, Value>) -> Self {
        Answer { name: name.to_owned(), arguments }
    }
}

impl From<MethodError> for Answer {
    /// Returns the response to a further call that fails.
    fn from(error: MethodError) -> Self {
        Answer { name: "error".to_owned(), arguments: error.into_json() }
    }
}

/// What a client gets (RFC 8620, section 3.4).
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    method_responses: Vec<Invocation>,
    created_ids: Option<CreatedIds>,
    session_state: String,
}

impl Response {
    /// Returns it as JSON.
    pub fn into_json(self) -> Value {
        let responses = self.method_responses.into_iter().map(|response| {
            Value::Array(vec![response.name.into(), response.arguments.into(), response.call_id.into()])
        });
        let mut object = Map::new();
        object.insert("methodResponses".to_owned(), responses.collect());
        if let Some(created_ids) = self.created_ids {
            object.insert("createdIds".to_owned(), created_ids.into_json().into());
        }
        object.insert("sessionState".to_owned(), self.session_state.into());
        Value::Object(object)
    }

    /// Returns it as bytes of I-JSON.
    pub fn into_bytes(self) -> Vec<u8> {
        i_json::bytes(&self.into_json())
    }
}

/// Runs the calls of `request` in order. One that fails does not stop the next (RFC 8620, section 3.6.2). As
/// soon as the responses fill `response_bytes`, further calls are refused with `requestTooLarge`.
pub fn run(request: Request, limits: &Limits, methods: &mut dyn Methods) -> Response {
    let Request { using, calls, created_ids } = request;
    let returns_created_ids = created_ids.is_some();
    let room = Room::new(limits.response_bytes);
    let mut context = Context { limits, created_ids: created_ids.unwrap_or_default(), using, room };
    let mut budget = Budget::new(limits.reference_bytes);
    let mut responses: Vec<Invocation> = Vec::with_capacity(calls.len());
    for Invocation { name, arguments, call_id } in calls {
        let left = context.room.left();
        let answers = permitted(&name, methods, &context)
            .and_then(|()| context.room.check())
            .and_then(|()| reference::resolve(arguments, &responses, &mut budget))
            .and_then(|arguments| answers(&name, arguments, methods, &mut context))
            .unwrap_or_else(|error| vec![error.into()]);
        context.room.settle(left, answers.iter().map(|answer| &answer.arguments));
        let invocation =
            |Answer { name, arguments }| Invocation { name, arguments, call_id: call_id.clone() };
        responses.extend(answers.into_iter().map(invocation));
    }
    Response {
        method_responses: responses,
        created_ids: returns_created_ids.then_some(context.created_ids),
        session_state: methods.session_state(),
    }
}

/// Checks that the method exists, and that the request uses its capability.
fn permitted(name: &str, methods: &dyn Methods, context: &Context<'_>) -> Result<(), MethodError> {
    let capability = if name == ECHO { Some(CORE) } else { methods.capability(name) };
    match capability {
        Some(capability) if context.uses(capability) => Ok(()),
        Some(capability) => {
            let what =
                format!("the method needs the capability \"{capability}\", which the request does not use");
            Err(MethodError::new(MethodErrorKind::UnknownMethod, what))
        }
        None => Err(MethodErrorKind::UnknownMethod.into()),
    }
}

/// Returns the responses to one call: at least one.
fn answers(
    name: &str,
    arguments: Map<String, Value>,
    methods: &mut dyn Methods,
    context: &mut Context<'_>,
) -> Result<Vec<Answer>, MethodError> {
    if name == ECHO {
        return Ok(vec![Answer::new(ECHO, arguments)]);
    }
    let answers = methods.call(name, Arguments::new(arguments), context)?;
    if answers.is_empty() {
        return Err(MethodError::new(MethodErrorKind::ServerFail, "the method gave no answer"));
    }
    Ok(answers)
}
